//! A whole house for tests, with the rows of the generator.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses some of these; no test code is shipped.

use brokerage::data::Generator;
use brokerage::database::{Build, Database, finish};
use brokerage::house::House;
use brokerage::market::Settings;
use brokerage::schema::TABLES;
use workload::profile::brokerage::Market;

/// Fills a database with the house.
pub fn build(database: &dyn Database, house: House) {
    let build = Build::new(house.customers(), house.trade_days(), house.seed());
    database.create(&build).unwrap();
    let generator = Generator::new(house);
    let mut loader = database.loader().unwrap();
    for table in &TABLES {
        for part in 0..generator.parts(table.name) {
            loader.begin(table.name).unwrap();
            generator.write(table.name, part, &mut *loader).unwrap();
            loader.end().unwrap();
        }
    }
    drop(loader);
    finish(database, 2, &|_| true).unwrap();
    database.mark_ready().unwrap();
}

/// A market that is quick enough for a short rehearsal, and has prices of its own.
pub fn market() -> Settings {
    Settings {
        price_period_ms: 60_000,
        ticker_per_second: 4.0,
        data_maintenance_every_ms: 8_000,
        ..Settings::from(&Market::default())
    }
}
