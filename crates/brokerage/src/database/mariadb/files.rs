//! Where MariaDB or MySQL has its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::connection::Connection;
use crate::database::server_files::{Part, ServerFiles};
use crate::error::DatabaseError;
use crate::schema::TABLES;

/// Variables that say where files are. Relative paths begin at the data directory.
const VARIABLES: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('datadir', \
     'innodb_data_home_dir', 'innodb_data_file_path', 'innodb_log_group_home_dir', \
     'innodb_undo_directory', 'innodb_doublewrite_dir', 'log_bin', 'log_bin_basename')";

/// The files of a server, and those of the tables of a database.
///
/// # Errors
/// The server is gone.
pub(super) fn files(
    connection: &mut Connection,
    database: &str,
) -> Result<ServerFiles, DatabaseError> {
    let rows = connection.ask(VARIABLES)?;
    let variables: BTreeMap<String, String> = rows
        .into_iter()
        .filter_map(|row| {
            let mut columns = row.into_iter();
            Some((columns.next()??.to_lowercase(), columns.next()??))
        })
        .collect();
    Ok(of_variables(&variables, database))
}

fn of_variables(variables: &BTreeMap<String, String>, database: &str) -> ServerFiles {
    let mut files = ServerFiles::default();
    let named = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let Some(directory) = named("datadir").map(PathBuf::from) else {
        let unknown = "The server does not say where its data directory is.";
        files.unknown.push(unknown.to_owned());
        return files;
    };
    let within = |name: &str| match named(name) {
        Some(path) => directory.join(path),
        None => directory.clone(),
    };
    let log = within("innodb_log_group_home_dir");
    // MySQL has a directory for it, MariaDB a file.
    let redo = ["ib_logfile0", "#innodb_redo"].map(|name| log.join(name));
    let redo = redo.into_iter().find(|path| path.exists());
    files.add("the redo log", redo.unwrap_or(log), Part::Log);
    let system = named("innodb_data_file_path").and_then(|files| files.split(':').next());
    let home = within("innodb_data_home_dir");
    let system = system.map_or_else(|| home.clone(), |file| home.join(file));
    files.add("the system tablespace", system, Part::Data);
    files.add(
        "the undo tablespaces",
        within("innodb_undo_directory"),
        Part::Data,
    );
    if named("innodb_doublewrite_dir").is_some() {
        let doublewrite = within("innodb_doublewrite_dir");
        files.add("the doublewrite buffer", doublewrite, Part::Data);
    }
    let has_binary_log = named("log_bin").is_some_and(|value| value.eq_ignore_ascii_case("on"));
    if let Some(base) = named("log_bin_basename").filter(|_| has_binary_log) {
        let base = directory.join(base);
        let of_log = base.parent().unwrap_or(&directory).to_owned();
        files.add("the binary log", of_log, Part::Any);
    }
    let of_database = directory.join(database);
    for table in &TABLES {
        let name = table.name.name();
        // Without a file of its own it is in the system tablespace.
        if let Some(path) = file_of_table(&of_database, name) {
            files.tables.push((name.to_owned(), path));
        }
    }
    files.add("the data directory", directory, Part::Data);
    files
}

/// The file of a table: in the directory of its database, or where a link of InnoDB (`.isl`) says.
fn file_of_table(directory: &Path, table: &str) -> Option<PathBuf> {
    let linked = std::fs::read_to_string(directory.join(format!("{table}.isl")));
    let linked = linked.ok().map(|path| PathBuf::from(path.trim()));
    linked.or_else(|| {
        let file = directory.join(format!("{table}.ibd"));
        file.exists().then_some(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_begin_at_the_data_directory() {
        let room = tempfile::tempdir().unwrap();
        let data = room.path().join("data");
        std::fs::create_dir_all(data.join("shop")).unwrap();
        std::fs::write(data.join("shop/trade.isl"), "/other/shop/trade.ibd\n").unwrap();
        std::fs::write(data.join("shop/charge.ibd"), "").unwrap();
        let variables = [
            ("datadir", data.to_str().unwrap()),
            ("innodb_log_group_home_dir", "./"),
            ("innodb_data_home_dir", ""),
            ("innodb_data_file_path", "ibdata1:12M:autoextend"),
            ("innodb_undo_directory", "/undo"),
            ("log_bin", "ON"),
            ("log_bin_basename", "/binary/log"),
        ];
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let files = of_variables(&variables.into_iter().map(pair).collect(), "shop");
        let path = |what: &str| {
            let mut found = files.files.iter();
            let found = found.find(|file| file.what == what).unwrap();
            (found.path.clone(), found.part)
        };
        assert_eq!(path("the redo log"), (data.join("./"), Part::Log));
        assert_eq!(
            path("the system tablespace"),
            (data.join("ibdata1"), Part::Data)
        );
        assert_eq!(path("the undo tablespaces"), ("/undo".into(), Part::Data));
        assert_eq!(path("the binary log"), ("/binary".into(), Part::Any));
        let mut tables = files.tables;
        tables.sort();
        assert_eq!(
            tables,
            [
                ("charge".to_owned(), data.join("shop/charge.ibd")),
                ("trade".to_owned(), "/other/shop/trade.ibd".into()),
            ]
        );
        let nothing = of_variables(&BTreeMap::new(), "shop");
        assert!(nothing.files.is_empty() && nothing.unknown.len() == 1);
    }
}
