//! A complete data set for tests, with the rows of the generator.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses some of these; no test code is shipped.

use brokerage::database::{Build, Database, finish};
use brokerage::dataset::DataSet;
use brokerage::generator::Generator;
use brokerage::market::Settings;
use brokerage::profile::Market;
use brokerage::schema::TABLES;

/// Builds the data set in a database.
pub fn build(database: &dyn Database, data_set: DataSet) {
    let build = Build::new(data_set.customers(), data_set.trade_days(), data_set.seed());
    database.create(&build).unwrap();
    let generator = Generator::new(data_set);
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

/// A market with delays short enough for a short run, and ticker entries of its own.
pub fn market() -> Settings {
    Settings {
        price_period_ms: 60_000,
        ticker_per_second: 4.0,
        data_maintenance_every_ms: 8_000,
        ..Settings::from(&Market::default())
    }
}
