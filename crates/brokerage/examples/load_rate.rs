//! How fast a house comes into PostgreSQL beside COPY from files made ready on the server, table by
//! table on one connection each, in turns on the same server: the rows of ours are generated on the
//! way. daily_market is also told apart: its rows cost next to nothing to generate, so that it shows
//! what our side of COPY costs.
//!
//! `cargo run --release -p brokerage --example load_rate [TRADE_DAYS [TURNS]]`

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use brokerage::data::Generator;
use brokerage::database::postgres::cluster::{Cluster, Settings};
use brokerage::database::{Build, Database};
use brokerage::house::House;
use brokerage::schema::{TABLES, TableName};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let trade_days = numbers.next().transpose()?.unwrap_or(5);
    let turns = numbers.next().transpose()?.unwrap_or(3);
    let room = tempfile::tempdir()?;
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o711))?;
    let mut cluster = Cluster::start(
        &room.path().join("server"),
        &Settings::with_memory(512 << 20),
    )?;
    let database = cluster.database()?;
    database.create(&Build::new(1_000, trade_days, 1))?;
    let generator = Generator::new(House::new(1_000, trade_days, 1));
    let mut connection = database.inquirer()?;
    connection.set_patience(None)?;
    connection.ask("SET synchronous_commit TO off")?;
    let names: Vec<_> = TABLES.iter().map(|table| table.name.name()).collect();
    let file = |name: &str| cluster.data_directory().join(format!("{name}.copy"));
    let empty = format!("TRUNCATE {}; CHECKPOINT", names.join(", "));
    let mut best = [0.0_f64; 2];
    for turn in 0..turns {
        let begun = Instant::now();
        let mut loader = database.loader()?;
        let mut rows = 0;
        let mut days = [0.0; 2];
        for table in &TABLES {
            let table_begun = Instant::now();
            for part in 0..generator.parts(table.name) {
                loader.begin(table.name)?;
                generator.write(table.name, part, &mut *loader)?;
                rows += loader.end()?;
            }
            if table.name == TableName::DailyMarket {
                days[0] = table_begun.elapsed().as_secs_f64();
            }
        }
        let ours = begun.elapsed().as_secs_f64();
        if turn == 0 {
            for name in &names {
                connection.ask(&format!("COPY {name} TO '{}'", file(name).display()))?;
            }
        }
        let sizes = names
            .iter()
            .map(|name| file(name).metadata().map(|about| about.len()));
        let bytes = sizes.sum::<std::io::Result<u64>>()? as f64;
        connection.ask(&empty)?;
        let begun = Instant::now();
        for name in &names {
            let table_begun = Instant::now();
            connection.ask(&format!("COPY {name} FROM '{}'", file(name).display()))?;
            if *name == TableName::DailyMarket.name() {
                days[1] = table_begun.elapsed().as_secs_f64();
            }
        }
        let peer = begun.elapsed().as_secs_f64();
        connection.ask(&empty)?;
        let rates = [bytes / ours / 1e6, bytes / peer / 1e6];
        println!(
            "turn {turn}: {rows} rows, {:.0} MB of text: ours {:.1} MB/s, COPY from files {:.1} \
             MB/s, ratio {:.3}; daily_market alone {:.3}",
            bytes / 1e6,
            rates[0],
            rates[1],
            rates[0] / rates[1],
            days[1] / days[0]
        );
        best = [best[0].max(rates[0]), best[1].max(rates[1])];
    }
    println!("best of {turns}: ratio {:.3}", best[0] / best[1]);
    cluster.remove()?;
    Ok(())
}
