//! What the tables of a house take in PostgreSQL: loads one into a server of its own and prints
//! bytes per row beside what [`House::estimated_bytes`] says. The constants there come from this.
//!
//! `cargo run --release -p brokerage --example load_size DIRECTORY [TRADE_DAYS [CUSTOMERS]]`

use brokerage::data::Generator;
use brokerage::database::postgres::cluster::{Cluster, Settings};
use brokerage::database::{Build, Database, finish};
use brokerage::house::House;
use brokerage::schema::TABLES;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let directory = PathBuf::from(words.next().ok_or("give a directory for the server")?);
    let mut numbers = words.map(|word| word.parse::<u32>().ok());
    let trade_days = numbers.next().flatten().unwrap_or(2);
    let customers = numbers.next().flatten().unwrap_or(1_000);
    let house = House::new(customers, trade_days, 1);
    let mut cluster = Cluster::start(&directory, &Settings::with_memory(256 << 20))?;
    let database = cluster.database()?;
    let begun = Instant::now();
    database.create(&Build::new(customers, trade_days, house.seed()))?;
    let generator = Generator::new(house);
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
    println!("rows in after {:.1} s", begun.elapsed().as_secs_f64());
    finish(&database, 2, &|_| true)?;
    database.mark_ready()?;
    println!("whole after {:.1} s", begun.elapsed().as_secs_f64());
    let mut connection = database.inquirer()?;
    println!(
        "{:<20} {:>10} {:>10} {:>10} {:>10}",
        "table", "rows", "bytes", "per row", "expected"
    );
    for (table, rows) in TABLES.iter().zip(rows) {
        let sql = format!("SELECT pg_total_relation_size('{}')", table.name.name());
        let answer = connection.ask(&sql)?;
        let bytes = answer
            .first()
            .and_then(|row| row.first().cloned().flatten());
        let bytes = bytes
            .and_then(|text| text.parse::<u64>().ok())
            .ok_or("no size")?;
        let expected = house.estimated_bytes(table.name) as f64 / house.rows(table.name) as f64;
        println!(
            "{:<20} {rows:>10} {bytes:>10} {:>10.1} {expected:>10.1}",
            table.name.name(),
            bytes as f64 / rows as f64
        );
    }
    println!(
        "all: {} bytes, expected {}",
        database.size_bytes()?,
        house.estimated_bytes_of_all()
    );
    drop(loader);
    drop(connection);
    cluster.remove()?;
    Ok(())
}
