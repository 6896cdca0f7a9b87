//! What other databases of the same server do meanwhile: their I/O is done by the same processes.

use super::statistics::{Unsupported, query};
use crate::error::DatabaseError;
use crate::session::Session;
use crate::statement::Statement;
use std::collections::BTreeMap;

/// Blocks read and rows changed are counted together: either causes I/O.
static DATABASES: Statement = Statement {
    name: "watch_databases",
    sql: "SELECT CAST(datname AS TEXT), \
          CAST(CASE WHEN datname = current_database() THEN 1 ELSE 0 END AS BIGINT), \
          blks_read + tup_inserted + tup_updated + tup_deleted \
          FROM pg_stat_database WHERE datname IS NOT NULL ORDER BY 1",
    parameters: &[],
};

/// The work of each database of a server so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatabaseWork {
    own: i64,
    others: BTreeMap<String, i64>,
}

/// The share of other databases in the work of a server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OtherDatabases {
    /// Their names, those with most work first.
    pub names: Vec<String>,
    /// Blocks that they read and rows that they changed, in percent of those of all databases.
    pub share_percent: f64,
}

/// Reads the work of all databases of a PostgreSQL server.
///
/// # Errors
/// The server is gone.
pub(super) fn read(
    session: &mut dyn Session,
    unsupported: &mut Unsupported,
) -> Result<DatabaseWork, DatabaseError> {
    let mut work = DatabaseWork::default();
    let Some(rows) = query(session, &DATABASES, unsupported)? else {
        return Ok(work);
    };
    for row in 0..rows.count() {
        let done = rows.integer(row, 2).unwrap_or(0);
        match (rows.text(row, 0), rows.integer(row, 1)) {
            (_, Some(1)) => work.own = done,
            (Some(name), _) => drop(work.others.insert(name.to_owned(), done)),
            _ => {}
        }
    }
    Ok(work)
}

/// What other databases did between two readings; `None` if they did nothing.
#[must_use]
pub fn between(before: &DatabaseWork, after: &DatabaseWork) -> Option<OtherDatabases> {
    // A server that was restarted may count from 0.
    let since = |before: i64, after: i64| {
        if after < before {
            after
        } else {
            after - before
        }
    };
    let others = after.others.iter().map(|(name, done)| {
        let before = before.others.get(name).copied().unwrap_or(0);
        (name, since(before, *done))
    });
    let mut others: Vec<_> = others.filter(|(_, done)| *done > 0).collect();
    others.sort_by_key(|(_, done)| std::cmp::Reverse(*done));
    let of_others: i64 = others.iter().map(|(_, done)| *done).sum();
    let all = of_others + since(before.own, after.own);
    (of_others > 0).then(|| OtherDatabases {
        names: others.into_iter().map(|(name, _)| name.clone()).collect(),
        share_percent: 100.0 * of_others as f64 / all as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(own: i64, others: &[(&str, i64)]) -> DatabaseWork {
        let others = others
            .iter()
            .map(|(name, done)| ((*name).to_owned(), *done));
        DatabaseWork {
            own,
            others: others.collect(),
        }
    }

    #[test]
    fn others_have_the_share_of_what_they_did_meanwhile() {
        let before = work(1_000, &[("quiet", 50), ("shop", 700)]);
        let after = work(1_300, &[("quiet", 50), ("shop", 790), ("new", 10)]);
        let found = between(&before, &after).unwrap();
        assert_eq!(found.names, ["shop", "new"]);
        assert_eq!(found.share_percent, 25.0);
        assert_eq!(
            between(&before, &work(1_300, &[("quiet", 50), ("shop", 700)])),
            None
        );
        // Counted anew since a restart.
        assert_eq!(
            between(&before, &work(30, &[("shop", 10)]))
                .unwrap()
                .share_percent,
            25.0
        );
    }
}
