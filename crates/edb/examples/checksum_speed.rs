//! How fast a page's checksum is verified, beside summing the same bytes as 64-bit words; both hot
//! in cache.
//!
//! Prints one JSON line. `sum_gb_per_s` and `verify_gb_per_s` are the rates of the fastest of many
//! short rounds, the ones that other work on the machine did not disturb; `ratio` is one divided by
//! the other. `median_ratio` is the median over all rounds, disturbed ones included, and `rounds`
//! lists them: the rates of verifying and of summing, taken one right after the other.

use std::hint::black_box;
use std::time::Instant;

use edb::format::page::{PageChange, PageFlags, seal, verify};
use multiversion::multiversion;
use runtime::Buffer;

const PAGE_SIZE_BYTES: usize = 32_768;
/// Short rounds, so that some of them run undisturbed by the rest of the machine.
const ROUNDS: usize = 201;
const PASSES: usize = 1000;

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn sum_words(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(0_u64, |sum, word| {
        sum.wrapping_add(u64::from_le_bytes(*word))
    })
}

/// A page in memory as the database cache has it, aligned to 4 KiB.
fn page_of_random_bytes() -> Buffer {
    let mut bytes = Buffer::zeroed(PAGE_SIZE_BYTES);
    let mut page = PageChange::new(&mut bytes);
    page.format_new(1, 8, PageFlags::LEAF);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for byte in &mut bytes[1000..30_000] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *byte = state as u8;
    }
    seal(&mut bytes, 1);
    bytes
}

/// Bytes per nanosecond of `work` over one page.
fn rate(page: &[u8], mut work: impl FnMut(&[u8])) -> f64 {
    let start = Instant::now();
    for _ in 0..PASSES {
        work(black_box(page));
    }
    (PASSES * PAGE_SIZE_BYTES) as f64 / start.elapsed().as_nanos() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let page = page_of_random_bytes();
    let (mut sums, mut checks, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let sum = rate(&page, |bytes| {
            black_box(sum_words(bytes));
        });
        let check = rate(&page, |bytes| assert!(verify(bytes, 1).is_ok()));
        sums.push(sum);
        checks.push(check);
        ratios.push(check / sum);
    }
    let rounds: Vec<String> = checks
        .iter()
        .zip(&sums)
        .map(|(check, sum)| format!("[{check:.1},{sum:.1}]"))
        .collect();
    let best = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    let (sum, check) = (best(&sums), best(&checks));
    println!(
        "{{\"sum_gb_per_s\": {sum:.1}, \"verify_gb_per_s\": {check:.1}, \"ratio\": {:.2}, \
         \"median_ratio\": {:.2}, \"rounds\": [{}]}}",
        check / sum,
        median(ratios),
        rounds.join(",")
    );
}
