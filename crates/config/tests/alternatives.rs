//! The other values of each kind of setting, and the values that code has set out of bounds.

use std::collections::BTreeMap;

use config::{
    ByteSize, TimeSpan, choice, list, named, optional, or_word, out_of_bounds, settings, within,
};
use test_support::alternatives;

choice! {
    /// A colour.
    pub enum Colour default Red {
        /// As blood.
        Red = "red",
        /// As grass.
        Green = "green",
    }
}

settings! {
    /// One setting of each kind.
    struct Kinds {
        /// A count.
        count: u32 = 100, as within(2..=1000);
        /// A number.
        share: f64 = 4.0, as within(1.0..=10.0);
        /// Any number.
        factor: f64 = f64::INFINITY;
        /// A size.
        size: ByteSize = ByteSize::kib(64), as within(ByteSize::kib(1)..=ByteSize::mib(1));
        /// A time.
        age: TimeSpan = TimeSpan::seconds(8),
            as within(TimeSpan::seconds(1)..=TimeSpan::seconds(3600));
        /// A switch.
        on: bool = true;
        /// A text.
        title: String = "a".to_owned();
        /// A name.
        colour: Colour = Colour::Red;
        /// A number or a word.
        writers: Option<u32> = None, as or_word("auto", within(1..=4));
        /// Numbers.
        levels: Vec<u32> = vec![5, 7], as list(within(1..=9));
        /// Tables with names.
        inner: BTreeMap<String, Inner> = BTreeMap::new(), as named(config::codec::Nested);
        /// A table that may be left out.
        other: Option<Inner> = None, as optional(config::codec::Nested);
    }
}

settings! {
    /// A table.
    struct Inner {
        /// A number.
        rpm: u32 = 5, as within(5..=6);
    }
}

#[test]
fn each_kind_of_setting_has_its_other_values_the_nearest_first() {
    let kinds = Kinds {
        inner: [("one".to_owned(), Inner::default())].into(),
        ..Kinds::default()
    };
    let all = alternatives(&kinds);
    assert!(!all.iter().any(|one| one.path == "other"), "it is left out");
    let found: Vec<String> = all
        .iter()
        .flat_map(|one| one.assignments().collect::<Vec<_>>())
        .collect();
    let wanted = [
        "count=101",
        "count=99",
        "count=200",
        "count=50",
        "count=6",
        "count=501",
        "count=2",
        "count=1000",
        "share=8",
        "share=2",
        "share=5",
        "share=3",
        "share=5.5",
        "share=1",
        "share=10",
        "factor=0",
        "factor=1",
        "factor=500000000",
        "factor=1000000000",
        "size=\"128KiB\"",
        "size=\"32KiB\"",
        "size=\"1MiB\"",
        "size=\"4KiB\"",
        "size=\"524800B\"",
        "size=\"1KiB\"",
        "size=\"65537B\"",
        "size=\"65535B\"",
        "age=\"16s\"",
        "age=\"4s\"",
        "age=\"128s\"",
        "age=\"1800500ms\"",
        "age=\"1s\"",
        "age=\"1h\"",
        "age=\"8000000001ns\"",
        "age=\"7999999999ns\"",
        "on=false",
        "title=\"ax\"",
        "colour=\"green\"",
        "writers=2",
        "writers=1",
        "writers=4",
        "levels=[5, 7, 8]",
        "levels=[7]",
        "inner.one.rpm=6",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn each_kind_of_setting_has_its_bounds() {
    assert_eq!(out_of_bounds(&Kinds::default()), []);
    let edges = Kinds {
        count: 2,
        share: 10.0,
        size: ByteSize::mib(1),
        age: TimeSpan::seconds(1),
        writers: Some(4),
        levels: vec![1, 9],
        ..Kinds::default()
    };
    assert_eq!(out_of_bounds(&edges), []);
    let beyond = Kinds {
        count: 1001,
        share: 0.5,
        size: ByteSize(1023),
        age: TimeSpan::seconds(3601),
        writers: Some(5),
        levels: vec![1, 10],
        inner: [("one".to_owned(), Inner { rpm: 4 })].into(),
        other: Some(Inner { rpm: 7 }),
        ..Kinds::default()
    };
    let found = out_of_bounds(&beyond);
    let found: Vec<String> = found
        .iter()
        .map(|(path, message)| format!("{path}: {message}"))
        .collect();
    assert_eq!(
        found,
        [
            "count: 1001 is out of range; write a whole number from 2 to 1000",
            "share: 0.5 is out of range; write a number from 1 to 10",
            "size: \"1023B\" is out of range; write a size from \"1KiB\" to \"1MiB\"",
            "age: \"3601s\" is out of range; write a time from \"1s\" to \"1h\"",
            "writers: 5 is out of range; write a whole number from 1 to 4, or \"auto\"",
            "levels: [1, 10] is out of range; write a whole number from 1 to 9, or a list",
            "inner.one.rpm: 4 is out of range; write a whole number from 5 to 6",
            "other.rpm: 7 is out of range; write a whole number from 5 to 6",
        ]
    );
}
