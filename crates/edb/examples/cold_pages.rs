//! How long it takes to find a key in a page, and to verify a page, when the pages are too many for
//! the CPU's cache.
//!
//! Prints one JSON line: nanoseconds for finding a key on a page of a mail index, for finding one on
//! a page of rows, and for verifying a page; of each the fastest round and the median round.

use std::hint::black_box;
use std::time::Instant;

use edb::format::page::{NodeFlags, PageChange, PageFlags, PageView, seal, verify};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use runtime::{BufferArena, Runtime};

const PAGE_BYTES: usize = 32_768;
/// Of each kind: 64 MiB.
const PAGES: u32 = 2_048;
const ROUNDS: usize = 41;
const LOOKUPS: usize = 10_000;

/// A page and the keys on it.
type Filled = (runtime::Buffer, Vec<Vec<u8>>);

fn fill(arena: &BufferArena, number: u32, keys: Vec<Vec<u8>>, data: &[u8]) -> Filled {
    let mut bytes = arena.buffer();
    bytes.fill(0);
    let mut page = PageChange::new(&mut bytes);
    page.format_new(number, 8, PageFlags::LEAF);
    let shared = edb::format::page::common_prefix_bytes(&keys[0], &keys[keys.len() - 1]);
    page.set_prefix(&keys[0][..shared]).expect("a prefix fits");
    let mut held = Vec::new();
    for key in keys {
        if page
            .insert_node(held.len(), &key, data, NodeFlags::NONE)
            .is_err()
        {
            break;
        }
        held.push(key);
    }
    seal(&mut bytes, number);
    (bytes, held)
}

/// The fastest and the median of the rounds, in nanoseconds a read.
fn rounds(mut read: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..LOOKUPS {
                read();
            }
            begun.elapsed().as_nanos() as f64 / LOOKUPS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[ROUNDS / 2])
}

fn searches(pages: &[Filled], rng: &mut Xoshiro256PlusPlus) -> (f64, f64) {
    // The keys side by side, so that getting at them costs nothing.
    let mut keys: Vec<u8> = Vec::new();
    let mut numbers = Vec::new();
    for _ in 0..LOOKUPS {
        let number = rng.next_u64() as usize % pages.len();
        let (_, held) = &pages[number];
        keys.extend(&held[rng.next_u64() as usize % held.len()]);
        numbers.push(number);
    }
    let key_bytes = keys.len() / LOOKUPS;
    let mut looked = 0;
    rounds(|| {
        let number = numbers[looked % LOOKUPS];
        let key = &keys[looked % LOOKUPS * key_bytes..][..key_bytes];
        looked += 1;
        let found = black_box(PageView::new(&pages[number].0).search(black_box(key)));
        assert!(found.is_ok());
    })
}

fn main() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let runtime = Runtime::virtual_clock();
    let arena = BufferArena::new(&runtime.handle(), PAGE_BYTES, 2 * PAGES).expect("memory");
    let index: Vec<Filled> = (0..PAGES)
        .map(|number| {
            let mut keys: Vec<Vec<u8>> = (0..1_100)
                .map(|_| {
                    let place = u64::from(number) << 53 | rng.next_u64() >> 11;
                    [&[0x7F][..], &place.to_be_bytes(), &[0; 4], &[7; 4]].concat()
                })
                .collect();
            keys.sort();
            fill(&arena, number + 1, keys, &[1; 9])
        })
        .collect();
    let rows: Vec<Filled> = (0..PAGES)
        .map(|number| {
            let keys = (0..130).map(|row| {
                let key = 1_u64 << 63 | u64::from(number * 128 + row);
                [&[0x7F][..], &key.to_be_bytes()].concat()
            });
            fill(&arena, PAGES + number + 1, keys.collect(), &[1; 250])
        })
        .collect();
    let find_index = searches(&index, &mut rng);
    let find_row = searches(&rows, &mut rng);
    let verifies = rounds(|| {
        let number = rng.next_u64() as usize % rows.len();
        let page = &rows[number].0;
        assert!(verify(page, PAGES + number as u32 + 1).is_ok());
    });
    println!(
        "{{\"index_ns\": {find_index:?}, \"row_ns\": {find_row:?}, \"verify_ns\": {verifies:?}}}"
    );
}
