//! Statements in the dialect of each database.

use crate::statement::{Dialect, Statement};

/// A statement in one dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Its SQL text with the database's placeholders.
    pub sql: String,
    /// The parameter (from 0) for each placeholder of the text. In the order `0, 1, 2 ...` if the
    /// database has numbered placeholders.
    pub places: Vec<usize>,
}

/// Renders a statement. Quoted texts are left unchanged.
///
/// # Panics
/// The statement has an unknown placeholder, or a parameter without a type: statements are part of
/// this program, so that is a bug.
#[must_use]
pub fn render(statement: &Statement, dialect: Dialect) -> Rendered {
    let mut sql = String::with_capacity(statement.sql.len());
    let mut places = Vec::new();
    let mut rest = statement.sql;
    while let Some(at) = rest.find(['\'', '$', '@']) {
        let (before, from) = rest.split_at(at);
        sql.push_str(before);
        let length = match from.as_bytes()[0] {
            b'\'' => from[1..].find('\'').map_or(from.len(), |end| end + 2),
            b'$' => 1 + from[1..].bytes().take_while(u8::is_ascii_digit).count(),
            _ => from[1..].find('@').map_or(from.len(), |end| end + 2),
        };
        let (word, after) = from.split_at(length);
        match word.as_bytes()[0] {
            b'\'' => sql.push_str(word),
            b'$' => place(statement, word, dialect, &mut sql, &mut places),
            _ => sql.push_str(mark(statement, word, dialect)),
        }
        rest = after;
    }
    sql.push_str(rest);
    if dialect != Dialect::MariaDb {
        places = (0..statement.parameters.len()).collect();
    }
    Rendered { sql, places }
}

fn place(
    statement: &Statement,
    word: &str,
    dialect: Dialect,
    sql: &mut String,
    places: &mut Vec<usize>,
) {
    let number = word[1..].parse::<usize>().ok();
    let number = number.filter(|number| (1..=statement.parameters.len()).contains(number));
    let Some(number) = number else {
        panic!("{word} of {} has no type", statement.name)
    };
    places.push(number - 1);
    match dialect {
        Dialect::PostgreSql => sql.push_str(word),
        Dialect::Sqlite => {
            sql.push('?');
            sql.push_str(&word[1..]);
        }
        Dialect::MariaDb => sql.push('?'),
    }
}

fn mark(statement: &Statement, word: &str, dialect: Dialect) -> &'static str {
    match (word, dialect) {
        ("@integer@", Dialect::PostgreSql) => "bigint",
        ("@integer@", Dialect::Sqlite) => "INTEGER",
        ("@integer@", Dialect::MariaDb) => "SIGNED",
        ("@for_update@", Dialect::PostgreSql | Dialect::MariaDb) => "FOR UPDATE",
        ("@for_update@", Dialect::Sqlite) => "",
        _ => panic!("{} has an unknown placeholder {word}", statement.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Type;

    static LOOK: Statement = Statement {
        name: "look",
        sql: "SELECT CAST(SUM(a) AS @integer@) FROM t WHERE b = $2 AND c < $1 AND d = $2 \
              AND e = 'it''s $1 @integer@' @for_update@",
        parameters: &[Type::Big, Type::Text(5)],
    };

    #[test]
    fn each_database_gets_its_own_dialect() {
        let postgres = render(&LOOK, Dialect::PostgreSql);
        assert_eq!(
            postgres.sql,
            "SELECT CAST(SUM(a) AS bigint) FROM t WHERE b = $2 AND c < $1 AND d = $2 \
             AND e = 'it''s $1 @integer@' FOR UPDATE"
        );
        assert_eq!(postgres.places, [0, 1]);
        let sqlite = render(&LOOK, Dialect::Sqlite);
        assert!(sqlite.sql.contains("b = ?2 AND c < ?1 AND d = ?2"));
        assert!(sqlite.sql.ends_with("'it''s $1 @integer@' "));
        assert_eq!(sqlite.places, [0, 1]);
        let mariadb = render(&LOOK, Dialect::MariaDb);
        assert!(mariadb.sql.contains("CAST(SUM(a) AS SIGNED)"));
        assert!(mariadb.sql.contains("b = ? AND c < ? AND d = ?"));
        assert_eq!(mariadb.places, [1, 0, 1]);
    }

    #[test]
    #[should_panic(expected = "$3 of wrong has no type")]
    fn a_parameter_without_a_type_is_a_mistake() {
        let wrong = Statement {
            name: "wrong",
            sql: "SELECT $3",
            parameters: &[Type::Big],
        };
        let _ = render(&wrong, Dialect::Sqlite);
    }
}
