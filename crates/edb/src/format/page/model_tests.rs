//! Random operations on a page against a plain vector of nodes.

use std::cmp::Ordering;

use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

type Model = Vec<(Vec<u8>, Vec<u8>, u8)>;

const PREFIX: &[u8] = b"\x7f\x80common part";

fn random_key(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let shared = random.random_range(0..=PREFIX.len());
    let mut key = PREFIX[..shared].to_vec();
    for _ in 0..random.random_range(1..6) {
        key.push(random.random_range(b'a'..b'h'));
    }
    key
}

fn random_data(random: &mut Xoshiro256PlusPlus, page_size: usize) -> Vec<u8> {
    let limit = if random.random_range(0..10) == 0 {
        page_size / 3
    } else {
        page_size / 60
    };
    let mut data = vec![0; random.random_range(0..limit)];
    random.fill_bytes(&mut data);
    data
}

fn assert_same(page: PageView<'_>, model: &Model) {
    page.check_structure().unwrap();
    assert_eq!(page.free_bytes(), page.free_bytes_by_definition());
    let nodes: Model = page
        .nodes()
        .map(|n| {
            (
                n.key(),
                n.data.to_vec(),
                n.flags.0 & !NodeFlags::COMPRESSED.0,
            )
        })
        .collect();
    assert_eq!(&nodes, model);
}

fn position(model: &Model, key: &[u8]) -> Result<usize, usize> {
    model.binary_search_by(|node| node.0.as_slice().cmp(key))
}

/// One random change to page and model; both must agree on whether it fits.
fn step(page: &mut PageChange<'_>, model: &mut Model, random: &mut Xoshiro256PlusPlus) {
    let size = page.view().bytes.len();
    let key = random_key(random);
    let found = position(model, &key);
    assert_eq!(page.view().search(&key), found);
    let any = if model.is_empty() {
        0
    } else {
        random.random_range(0..model.len())
    };
    match (random.random_range(0..20), found) {
        (0..=9, Err(index)) => {
            let data = random_data(random, size);
            let flags = NodeFlags(random.random_range(0..4));
            let fits = page.view().fits(&key, data.len());
            let done = page.insert_node(index, &key, &data, flags).is_ok();
            assert_eq!(done, fits);
            if done {
                model.insert(index, (key, data, flags.0));
            }
        }
        (0..=9, Ok(_)) | (10..=13, _) if !model.is_empty() => {
            let index = found.unwrap_or(any);
            let data = random_data(random, size);
            let fits = page.view().fits_replacement(index, data.len());
            let done = page.replace_data(index, &data).is_ok();
            assert_eq!(done, fits);
            if done {
                model[index].1 = data;
            }
        }
        (14..=16, _) if !model.is_empty() => {
            page.remove_node(any);
            model.remove(any);
        }
        (17, _) if !model.is_empty() => {
            let flags = random.random_range(0..4);
            page.set_node_flags(any, NodeFlags(flags));
            model[any].2 = flags;
        }
        (18, _) if !page.view().is_root() => {
            let keep = random.random_range(0..=PREFIX.len());
            let best = page.view().best_prefix(0..model.len());
            let prefix = if random.random_bool(0.5) {
                best
            } else {
                PREFIX[..keep].to_vec()
            };
            let _ = page.set_prefix(&prefix);
        }
        (18, _) => page.set_external_header(&key).map_or((), |()| {
            assert_eq!(page.view().external_header(), key);
        }),
        _ => page.defragment(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn behaves_like_a_sorted_vector(seed: u64, size in 0_usize..4, root: bool) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = vec![0xAA; PAGE_SIZES_BYTES[size]];
        let mut page = PageChange::new(&mut bytes);
        let flags = PageFlags::LEAF | if root { PageFlags::ROOT } else { PageFlags::default() };
        page.format_new(77, 8, flags);
        let mut model = Model::new();
        for _ in 0..400 {
            step(&mut page, &mut model, &mut random);
            assert_same(page.view(), &model);
        }
        seal(&mut bytes, 77);
        prop_assert_eq!(verify(&bytes, 77), Ok(()));
    }

    #[test]
    fn halves_of_a_split_hold_everything(seed: u64, size in 0_usize..4) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = vec![0; PAGE_SIZES_BYTES[size]];
        let mut page = PageChange::new(&mut bytes);
        page.format_new(5, 8, PageFlags::LEAF);
        page.set_prefix(PREFIX).unwrap();
        let mut model = Model::new();
        let (key, data) = loop {
            let (key, data) = (random_key(&mut random), random_data(&mut random, PAGE_SIZES_BYTES[size]));
            let Err(index) = position(&model, &key) else { continue };
            if page.insert_node(index, &key, &data, NodeFlags::NONE).is_err() {
                break (key, data);
            }
            model.insert(index, (key, data, 0));
        };
        let at = position(&model, &key).unwrap_err();
        let point = SplitPoint::even(page.view(), at, page.view().space_for(&key, data.len()));
        let count = model.len();
        let mut right_bytes = vec![0; bytes.len()];
        let left_view = PageView::new(&bytes);
        let mut right = PageChange::new(&mut right_bytes);
        right.format_new(6, 8, PageFlags::LEAF);
        right.set_prefix(&left_view.best_prefix(point.first_right..count)).unwrap();
        right.copy_nodes(left_view, point.first_right..count).unwrap();
        let mut left = PageChange::new(&mut bytes);
        left.remove_nodes(point.first_right..count);
        let target = if point.new_goes_right { &mut right } else { &mut left };
        target.insert_node(point.new_index, &key, &data, NodeFlags::NONE).unwrap();
        model.insert(at, (key, data, 0));
        let middle = left.view().node_count();
        prop_assert!(middle > 0 && middle < model.len());
        assert_same(left.view(), &model[..middle].to_vec());
        assert_same(right.view(), &model[middle..].to_vec());
        let separator = shortest_separator(&model[middle - 1].0, &model[middle].0);
        prop_assert!(separator > model[middle - 1].0.as_slice() && separator <= model[middle].0.as_slice());
        let lowest = lowest_separator(&model[middle - 1].0, &model[middle].0);
        prop_assert!(lowest > model[middle - 1].0 && lowest.as_slice() <= separator);
        prop_assert_eq!(lowest.len(), separator.len());
    }

    #[test]
    fn the_compressed_search_agrees_with_plain_comparison(seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut keys: Vec<Vec<u8>> = (0..60).map(|_| random_key(&mut random)).collect();
        keys.sort();
        keys.dedup();
        let mut bytes = vec![0; 8192];
        let mut page = PageChange::new(&mut bytes);
        page.format_new(9, 8, PageFlags::PARENT_OF_LEAF);
        page.set_prefix(&PREFIX[..random.random_range(0..=PREFIX.len())]).unwrap();
        for (i, key) in keys.iter().enumerate() {
            page.insert_node(i, key, &[i as u8, 0, 0, 0], NodeFlags::NONE).unwrap();
        }
        page.insert_node(keys.len(), b"", &[99, 0, 0, 0], NodeFlags::NONE).unwrap();
        page.view().check_structure().unwrap();
        for _ in 0..200 {
            let key = random_key(&mut random);
            let expected = keys.partition_point(|separator| *separator <= key);
            prop_assert_eq!(page.view().child_index(&key), expected);
            for (i, other) in keys.iter().enumerate() {
                prop_assert_eq!(page.view().node(i).compare_key(&key), other.cmp(&key));
            }
        }
        prop_assert_eq!(page.view().child(keys.len()), 99);
    }

    #[test]
    fn structure_check_survives_any_bytes(seed: u64, damage in 1_usize..40) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = sealed_page(8192, 3);
        for _ in 0..damage {
            let at = if random.random_bool(0.5) {
                random.random_range(0..80)
            } else {
                random.random_range(0..bytes.len())
            };
            bytes[at] = random.random();
        }
        let _ = PageView::new(&bytes).check_structure();
        let _ = verify(&bytes, 3);
    }
}

fn sealed_page(size: usize, number: u32) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let mut page = PageChange::new(&mut bytes);
    page.format_new(number, 8, PageFlags::LEAF);
    page.set_dbtime(55);
    page.set_next(number + 1);
    for i in 0..20_u8 {
        page.insert_node(usize::from(i), &[1, 2, i], &[i; 100], NodeFlags::NONE)
            .unwrap();
    }
    seal(&mut bytes, number);
    bytes
}

#[test]
fn every_wrong_bit_of_a_page_is_found_and_repaired() {
    for size in PAGE_SIZES_BYTES {
        let good = sealed_page(size, 1234);
        assert_eq!(verify(&good, 1234), Ok(()));
        let ecc_bit = 36 * 8 + 13;
        for bit in (0..8 * size)
            .step_by(if size > 8192 { 31 } else { 7 })
            .chain(0..640)
        {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let expected = WrongBit {
                byte: bit / 8,
                bit: (bit % 8) as u8,
            };
            // On small pages a wrong bit there makes it another page.
            let in_number = is_small(size) && bit < 31;
            let sign = is_small(size) && bit == 31;
            let repairable = bit != ecc_bit && !in_number && !sign;
            let found = verify(&bad, 1234);
            let damage = if in_number {
                let found = 1234 ^ 1 << bit;
                PageDamage::WrongNumber { found }
            } else {
                let correctable = repairable.then_some(expected);
                PageDamage::WrongChecksum { correctable }
            };
            assert_eq!(found, Err(damage), "bit {bit}");
            if !repairable {
                assert_eq!(repair(&mut bad, 1234), None);
            } else {
                assert_eq!(repair(&mut bad, 1234), Some(expected));
                assert!(bad == good);
            }
        }
    }
}

#[test]
fn kinds_of_damage_are_distinguished() {
    for size in PAGE_SIZES_BYTES {
        let good = sealed_page(size, 10);
        assert_eq!(
            verify(&good, 11),
            Err(PageDamage::WrongNumber { found: 10 })
        );
        assert_eq!(verify(&vec![0; size], 11), Err(PageDamage::NeverWritten));
        // Torn: the last sectors are from another state of the page. (Plain zeroes would not do:
        // this checksum is linear, and regular contents such as these twenty equal tags cancel out
        // in it.)
        let mut torn = good.clone();
        Xoshiro256PlusPlus::seed_from_u64(size as u64).fill_bytes(&mut torn[size - 1024..]);
        let found = verify(&torn, 10);
        assert_eq!(found, Err(PageDamage::WrongChecksum { correctable: None }));
    }
}

#[test]
fn a_full_page_says_what_is_missing() {
    let mut bytes = vec![0; 4096];
    let mut page = PageChange::new(&mut bytes);
    page.format_new(3, 8, PageFlags::LEAF);
    let room = page_capacity_bytes(4096) - 2 * TAG_BYTES;
    page.insert_node(0, b"a", &vec![1; room - 3], NodeFlags::NONE)
        .unwrap();
    assert_eq!(page.view().free_bytes(), 0);
    let full = page.insert_node(1, b"b", b"", NodeFlags::NONE).unwrap_err();
    assert_eq!(
        full,
        PageFull {
            page_number: 0,
            free_bytes: 0,
            needed_bytes: 7
        }
    );
    assert_eq!(page.view().node(0).compare_key(b"b"), Ordering::Less);
}

#[test]
#[should_panic(expected = "free bytes")]
fn a_page_that_breaks_the_law_is_not_sealed() {
    let mut bytes = sealed_page(4096, 3);
    bytes[28] ^= 1;
    seal(&mut bytes, 3);
}
