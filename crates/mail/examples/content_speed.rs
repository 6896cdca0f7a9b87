//! How fast the contents of mail items are made and checked, on one core.
//!
//! `cargo run --release -p mail --example content_speed`

use mail::content::{ContentSource, Part, RowVersion};
use std::time::Instant;

fn main() {
    let source = ContentSource::new(1, 0, 0.0);
    let mut value = vec![0; 2000];
    let rows = 1_000_000_u64;
    let bytes = rows as f64 * value.len() as f64;
    let begun = Instant::now();
    for row in 0..rows {
        let version = RowVersion { row, version: 0 };
        source.fill(version, Part::Long, std::hint::black_box(&mut value));
    }
    let made_s = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let version = RowVersion {
        row: rows - 1,
        version: 0,
    };
    let good = (0..rows).all(|_| source.matches(version, Part::Long, std::hint::black_box(&value)));
    let checked_s = begun.elapsed().as_secs_f64();
    assert!(good, "what was made is known again");
    println!("made    {:.1} GB/s", bytes / made_s / 1e9);
    println!("checked {:.1} GB/s", bytes / checked_s / 1e9);
}
