//! How fast rows are generated: text per second of one core, into a sink that formats every value
//! as CSV, counts the bytes and discards them.
//!
//! `cargo run --release -p brokerage --example generate_speed [TRADE_DAYS [CUSTOMERS]]` generates
//! the first load unit. Time is CPU time of the one thread.

use brokerage::dataset::DataSet;
use brokerage::error::DatabaseError;
use brokerage::generator::Generator;
use brokerage::row::RowSink;
use brokerage::schema::TABLES;

/// Formats rows as CSV into one buffer, over and over.
struct Counting {
    text: Vec<u8>,
    rows: u64,
    bytes: u64,
}

impl Counting {
    /// Size of the buffer.
    const FULL: usize = 64 << 10;

    fn value(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text.push(b',');
    }
}

impl RowSink for Counting {
    fn null(&mut self) {
        self.text.push(b',');
    }

    fn integer(&mut self, number: i64) {
        let mut digits = [0_u8; 20];
        let (mut rest, mut at) = (number.unsigned_abs(), digits.len());
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            digits[at] = b'-';
        }
        self.value(&digits[at..]);
    }

    fn text(&mut self, text: &str) {
        self.value(text.as_bytes());
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        self.rows += 1;
        if self.text.len() >= Self::FULL {
            self.bytes += self.text.len() as u64;
            self.text.clear();
        }
        Ok(())
    }
}

/// CPU time of this thread, in seconds.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    first
        .and_then(|ns| ns.parse::<f64>().ok())
        .unwrap_or(f64::NAN)
        / 1e9
}

fn main() -> Result<(), DatabaseError> {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|word| word.parse::<u32>().ok());
    let trade_days = arguments.next().flatten().unwrap_or(300);
    let customers = arguments.next().flatten().unwrap_or(1_000);
    let generator = Generator::new(DataSet::new(customers, trade_days, 1));
    println!(
        "{:<20} {:>11} {:>9} {:>8} {:>7} {:>11}",
        "table", "rows", "MB", "s", "MB/s", "expected"
    );
    let (mut all_bytes, mut all_seconds) = (0, 0.0);
    for table in &TABLES {
        let started = cpu_seconds();
        let mut sink = Counting {
            text: Vec::with_capacity(2 * Counting::FULL),
            rows: 0,
            bytes: 0,
        };
        generator.write(table.name, 0, &mut sink)?;
        let seconds = cpu_seconds() - started;
        let bytes = sink.bytes + sink.text.len() as u64;
        (all_bytes, all_seconds) = (all_bytes + bytes, all_seconds + seconds);
        let megabytes = bytes as f64 / 1e6;
        let expected =
            generator.data_set().rows(table.name) / u64::from(generator.parts(table.name));
        println!(
            "{:<20} {:>11} {megabytes:>9.2} {seconds:>8.3} {:>7.1} {expected:>11}",
            table.name.name(),
            sink.rows,
            megabytes / seconds
        );
    }
    let megabytes = all_bytes as f64 / 1e6;
    println!(
        "all: {megabytes:.1} MB in {all_seconds:.2} s, {:.1} MB/s",
        megabytes / all_seconds
    );
    Ok(())
}
