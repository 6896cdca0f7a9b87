//! Size of the tables in each database: loads one and prints bytes per row next to
//! [`DataSet::estimated_bytes`], whose constants come from this.
//!
//! `cargo run --release -p brokerage --example load_size DATABASE DIRECTORY [TRADE_DAYS
//! [CUSTOMERS]]`
//!
//! DATABASE is `auto` for a PostgreSQL server of its own in the directory, `sqlite` for a file
//! there, or the address of a MariaDB server, whose user may see its files.

use brokerage::database::mariadb::MariaDb;
use brokerage::database::postgres::Postgres;
use brokerage::database::postgres::cluster::{Cluster, Settings};
use brokerage::database::sqlite::Sqlite;
use brokerage::database::{Address, Build, Database, Target, finish};
use brokerage::dataset::DataSet;
use brokerage::generator::Generator;
use brokerage::schema::TABLES;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Memory of the server.
const MEMORY_BYTES: u64 = 256 << 20;

fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let target = Target::parse(&words.next().ok_or("name a database")?)?;
    let directory = PathBuf::from(words.next().ok_or("give a directory")?);
    let mut numbers = words.map(|word| word.parse::<u32>().ok());
    let trade_days = numbers.next().flatten().unwrap_or(2);
    let customers = numbers.next().flatten().unwrap_or(1_000);
    let data_set = DataSet::new(customers, trade_days, 1);
    match target {
        Target::Auto => {
            let mut cluster = Cluster::start(&directory, &Settings::with_memory(MEMORY_BYTES))?;
            let database = cluster.database()?;
            show(data_set, &database, |table| of_postgres(&database, table))?;
            cluster.remove()?;
        }
        Target::Sqlite => {
            let database = Sqlite::new(&directory, MEMORY_BYTES, 2);
            let path = database.path().to_owned();
            show(data_set, &database, |table| of_sqlite(&path, table))?;
            database.remove()?;
        }
        Target::MariaDb(address) => {
            let database = MariaDb::open(&address)?;
            let name = database.database_name().to_owned();
            show(data_set, &database, |table| {
                of_mariadb(&address, &name, table)
            })?;
            database.remove()?;
        }
        Target::PostgreSql(_) => return Err("PostgreSQL is started here: say auto".into()),
    }
    Ok(())
}

fn show(
    data_set: DataSet,
    database: &dyn Database,
    bytes_of: impl Fn(&str) -> Outcome<u64>,
) -> Outcome<()> {
    let started = Instant::now();
    let build = Build::new(data_set.customers(), data_set.trade_days(), data_set.seed());
    database.create(&build)?;
    let generator = Generator::new(data_set);
    let mut loader = database.loader()?;
    let mut rows = Vec::new();
    for table in &TABLES {
        let mut count = 0;
        for part in 0..generator.parts(table.name) {
            loader.begin(table.name)?;
            generator.write(table.name, part, &mut *loader)?;
            count += loader.end()?;
        }
        rows.push(count);
    }
    drop(loader);
    println!("rows in after {:.1} s", started.elapsed().as_secs_f64());
    finish(database, 2, &|_| true)?;
    database.mark_ready()?;
    println!("whole after {:.1} s", started.elapsed().as_secs_f64());
    println!(
        "{:<20} {:>10} {:>10} {:>10} {:>10}",
        "table", "rows", "bytes", "per row", "expected"
    );
    let dialect = database.dialect();
    let mut sum = 0;
    for (table, rows) in TABLES.iter().zip(rows) {
        let bytes = bytes_of(table.name.name())?;
        sum += bytes;
        let expected = data_set.estimated_bytes(dialect, table.name) as f64;
        println!(
            "{:<20} {rows:>10} {bytes:>10} {:>10.1} {:>10.1}",
            table.name.name(),
            bytes as f64 / rows as f64,
            expected / data_set.rows(table.name) as f64
        );
    }
    println!(
        "all: {} bytes, of which {sum} in tables; expected {}",
        database.size_bytes()?,
        data_set.estimated_bytes_of_all(dialect)
    );
    Ok(())
}

fn of_postgres(database: &Postgres, table: &str) -> Outcome<u64> {
    let sql = format!("SELECT pg_total_relation_size('{table}')");
    number(&database.connect_for_sql()?.ask(&sql)?)
}

fn of_mariadb(address: &Address, database: &str, table: &str) -> Outcome<u64> {
    use brokerage::database::mariadb::Connection;
    use std::time::Duration;
    let mut connection = Connection::open(address, None, Duration::from_secs(10))?;
    number(&connection.ask(&format!(
        "SELECT file_size FROM information_schema.innodb_sys_tablespaces \
         WHERE name = '{database}/{table}'"
    ))?)
}

fn of_sqlite(file: &Path, table: &str) -> Outcome<u64> {
    let connection = rusqlite::Connection::open(file)?;
    let sql = "SELECT SUM(pgsize) FROM dbstat WHERE aggregate = TRUE \
               AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?1)";
    Ok(connection.query_row(sql, [table], |row| row.get::<_, i64>(0))? as u64)
}

fn number(rows: &[Vec<Option<String>>]) -> Outcome<u64> {
    let text = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(text.ok_or("no size")?.parse()?)
}
