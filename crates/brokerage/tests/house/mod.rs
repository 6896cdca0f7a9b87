//! A whole house for tests, with the rows of the generator.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses some of these; no test code is shipped.

use brokerage::data::Generator;
use brokerage::database::{Build, Database, finish};
use brokerage::house::House;
use brokerage::schema::TABLES;
use workload::profile::{Brokerage, TimeSpan};

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
    finish(database, 2, &|_| {}).unwrap();
    database.mark_ready().unwrap();
}

/// The published load, with a market that is quick enough for a short rehearsal.
pub fn brokerage() -> Brokerage {
    let mut brokerage = Brokerage::default();
    brokerage.market.price_period = TimeSpan::seconds(60);
    brokerage.market.data_maintenance_every = TimeSpan::seconds(8);
    brokerage
}
