//! The same bytes, whoever generates them and in whichever order.

use super::{Each, Generator};
use crate::dataset::DataSet;
use crate::schema::{TABLES, TableName};
use crate::value::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use workload::random::SeededRng;

/// A hash of the rows of a part, in order.
fn hash(generator: &Generator, table: TableName, part: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut sink = Each {
        row: Vec::new(),
        take: |row: &[Value]| row.hash(&mut hasher),
    };
    generator.write(table, part, &mut sink).unwrap();
    hasher.finish()
}

fn parts(data_set: &DataSet) -> Vec<(TableName, u32)> {
    let generator = Generator::new(*data_set);
    let of = |table: TableName| (0..generator.parts(table)).map(move |part| (table, part));
    TABLES.iter().flat_map(|table| of(table.name)).collect()
}

#[test]
fn many_workers_in_any_order_make_what_one_makes() {
    let data_set = DataSet::new(3_000, 1, 31);
    let all = parts(&data_set);
    assert_eq!(all.len(), 33 * 3 - 2 * fixed());
    let one: BTreeMap<(TableName, u32), u64> = all
        .iter()
        .map(|&(table, part)| ((table, part), hash(&Generator::new(data_set), table, part)))
        .collect();
    let mut shuffled = all;
    SeededRng::new(31, 0).shuffle(&mut shuffled);
    let next = AtomicUsize::new(0);
    let work = || {
        let generator = Generator::new(data_set);
        let mut made = BTreeMap::new();
        while let Some(&(table, part)) = shuffled.get(next.fetch_add(1, Ordering::Relaxed)) {
            made.insert((table, part), hash(&generator, table, part));
        }
        made
    };
    let many = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        let made = workers.into_iter().map(|worker| worker.join().unwrap());
        made.fold(BTreeMap::new(), |mut all, made| {
            all.extend(made);
            all
        })
    });
    assert_eq!(one, many);
}

/// Tables that come in one part.
fn fixed() -> usize {
    let class = |table: &&crate::schema::Table| table.class == crate::schema::Class::Fixed;
    TABLES.iter().filter(class).count()
}

#[test]
fn parts_of_a_large_data_set_are_independent_and_seeds_differ() {
    let generator = Generator::new(DataSet::new(400_000, 1, 32));
    let other = Generator::new(DataSet::new(400_000, 1, 33));
    for table in [TableName::Trade, TableName::Customer, TableName::NewsItem] {
        let part = hash(&generator, table, 377);
        assert_eq!(part, hash(&generator, table, 377));
        assert_ne!(part, hash(&generator, table, 376));
        assert_ne!(part, hash(&other, table, 377));
    }
}

#[test]
fn a_sink_that_takes_no_more_ends_the_part() {
    struct Full(u32);
    impl crate::row::RowSink for Full {
        fn null(&mut self) {}
        fn integer(&mut self, _: i64) {}
        fn text(&mut self, _: &str) {}
        fn end_row(&mut self) -> Result<(), crate::error::DatabaseError> {
            self.0 += 1;
            let full = crate::error::DatabaseError::NoSpace("disk full".to_owned());
            if self.0 == 5 { Err(full) } else { Ok(()) }
        }
    }
    let generator = Generator::new(DataSet::new(1_000, 1, 34));
    for table in TABLES
        .iter()
        .filter(|table| table.name != TableName::TradeRequest)
    {
        let mut sink = Full(0);
        assert!(generator.write(table.name, 0, &mut sink).is_err() || sink.0 < 5);
        assert!(sink.0 <= 5, "{}", table.name.name());
    }
}
