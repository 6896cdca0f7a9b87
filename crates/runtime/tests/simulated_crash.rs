//! What simulated power cuts may and may not do, over many seeds.

#![allow(clippy::unwrap_used)] // A test says what must not fail by unwrapping it.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::buffer::BLOCK_BYTES;
use runtime::simulated::{AfterPowerLoss, Fault, FaultEffect, Tearing};
use runtime::{
    Buffer, Directory, File, IoFailure, IoOperation, Persistence, Runtime, SimulatedDisk,
    SimulatedFile, SimulatedOptions,
};
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const BLOCK: u64 = BLOCK_BYTES as u64;
const SECTOR: usize = 512;
const REGION_BLOCKS: usize = 8;
const WRITERS: usize = 3;

/// What a sector may hold after a power cut: the tags of all writes that could be the latest.
type Possible = Rc<RefCell<Vec<BTreeSet<u64>>>>;

fn tagged(blocks: usize, tag: u64) -> Buffer {
    let mut buffer = Buffer::zeroed(blocks * BLOCK_BYTES);
    for bytes in buffer.as_chunks_mut::<8>().0 {
        *bytes = tag.to_le_bytes();
    }
    buffer
}

fn tag_of(sector: &[u8]) -> u64 {
    let (tags, _) = sector.as_chunks::<8>();
    assert!(tags.iter().all(|tag| *tag == tags[0]), "a sector is torn");
    u64::from_le_bytes(tags[0])
}

/// Writes at random into its own region until power is lost, keeping `possible` up to date.
async fn write_until_power_is_lost(
    file: SimulatedFile,
    region: usize,
    possible: Possible,
    mut random: Xoshiro256PlusPlus,
) {
    let first_sector = region * REGION_BLOCKS * 8;
    let mut latest = vec![0; REGION_BLOCKS * 8];
    for number in 1.. {
        if random.random_bool(0.15) {
            if file.sync().await.is_err() {
                return;
            }
            for (sector, tag) in latest.iter().enumerate() {
                possible.borrow_mut()[first_sector + sector] = BTreeSet::from([*tag]);
            }
            continue;
        }
        let tag = ((region as u64) << 32) + number;
        let first = random.random_range(0..REGION_BLOCKS);
        let blocks = random.random_range(1..=REGION_BLOCKS - first);
        let sectors = first * 8..(first + blocks) * 8;
        for sector in sectors.clone() {
            possible.borrow_mut()[first_sector + sector].insert(tag);
        }
        let durable = random.random_bool(0.3);
        let persistence = if durable {
            Persistence::Durable
        } else {
            Persistence::Volatile
        };
        let offset_bytes = (region * REGION_BLOCKS + first) as u64 * BLOCK;
        let buffer = Rc::new(tagged(blocks, tag));
        if file.write(offset_bytes, buffer, persistence).await.is_err() {
            return;
        }
        for sector in sectors {
            latest[sector] = tag;
            if durable {
                possible.borrow_mut()[first_sector + sector] = BTreeSet::from([tag]);
            }
        }
    }
}

/// Crashes a disk under load; gives the tags left in each sector and those that were possible.
fn crash_under_load(seed: u64, tearing: Tearing) -> (Vec<u64>, Vec<BTreeSet<u64>>) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let options = SimulatedOptions {
        tearing,
        ..SimulatedOptions::seeded(seed)
    };
    let disk = SimulatedDisk::new(&handle, options);
    let sectors = WRITERS * REGION_BLOCKS * 8;
    let possible: Possible = Rc::new(RefCell::new(vec![BTreeSet::from([0]); sectors]));
    let seen = Rc::clone(&possible);
    let tags = runtime.block_on(async move {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let directory = disk.directory("d");
        let file = directory.create("f").await.unwrap();
        let size_bytes = (WRITERS * REGION_BLOCKS) as u64 * BLOCK;
        file.set_size_bytes(size_bytes).await.unwrap();
        file.sync().await.unwrap();
        directory.sync().await.unwrap();
        for region in 0..WRITERS {
            let random = Xoshiro256PlusPlus::seed_from_u64(random.random());
            let (file, seen) = (file.clone(), Rc::clone(&seen));
            handle.spawn(write_until_power_is_lost(file, region, seen, random));
        }
        handle.sleep_ns(random.random_range(0..5_000_000)).await;
        disk.crash(seed);
        let disk = disk.reopen(&handle);
        let file = disk.directory("d").open("f").await.unwrap();
        assert_eq!(file.size_bytes().await.unwrap(), size_bytes);
        let buffer = Buffer::zeroed(usize::try_from(size_bytes).unwrap());
        let (buffer, result) = file.read(0, buffer).await;
        result.unwrap();
        buffer.chunks(SECTOR).map(tag_of).collect()
    });
    let possible = possible.borrow().clone();
    (tags, possible)
}

#[test]
fn durable_sectors_survive_and_others_are_old_or_new() {
    let (mut lost, mut kept, mut torn_blocks) = (0, 0, 0);
    for seed in 0..400 {
        println!("seed {seed}");
        let (tags, possible) = crash_under_load(seed, Tearing::Sectors);
        for (sector, (tag, possible)) in tags.iter().zip(&possible).enumerate() {
            assert!(
                possible.contains(tag),
                "sector {sector} holds {tag:#x}, possible are {possible:x?}"
            );
            if possible.len() > 1 {
                let newest = possible.last() == Some(tag);
                lost += usize::from(!newest);
                kept += usize::from(newest);
            }
        }
        torn_blocks += tags
            .chunks(8)
            .filter(|block| block.iter().any(|tag| tag != &block[0]))
            .count();
    }
    // The test would mean nothing if nothing were ever lost, kept or torn.
    assert!(
        lost > 1_000 && kept > 1_000 && torn_blocks > 100,
        "{lost} {kept} {torn_blocks}"
    );
}

#[test]
fn atomic_pages_are_never_torn() {
    for seed in 0..200 {
        println!("seed {seed}");
        let (tags, possible) = crash_under_load(seed, Tearing::Pages { bytes: BLOCK });
        for (block, (tags, possible)) in tags.chunks(8).zip(possible.chunks(8)).enumerate() {
            assert!(
                tags.iter().all(|tag| tag == &tags[0]),
                "block {block} is torn"
            );
            assert!(possible[0].contains(&tags[0]), "block {block}");
        }
    }
}

/// Makes a random change of names, and applies it to `names`, a model of file name to tag.
async fn change_names(
    directory: &runtime::SimulatedDirectory,
    names: &mut BTreeMap<String, u64>,
    random: &mut Xoshiro256PlusPlus,
    tag: u64,
) -> Result<(), runtime::IoError> {
    let name = |random: &mut Xoshiro256PlusPlus| format!("{}", random.random_range(0..6));
    let (from, to) = (name(random), name(random));
    if let Entry::Vacant(vacant) = names.entry(from.clone()) {
        let file = directory.create(&from).await?;
        vacant.insert(tag);
        return file
            .write(0, Rc::new(tagged(1, tag)), Persistence::Durable)
            .await;
    }
    if random.random_bool(0.3) {
        directory.remove(&from).await?;
        names.remove(&from);
    } else {
        directory.rename(&from, &to).await?;
        if let Some(tag) = names.remove(&from) {
            names.insert(to, tag);
        }
    }
    Ok(())
}

#[test]
fn names_after_a_crash_are_those_of_one_instant() {
    let mut went_back = 0;
    for seed in 0..400 {
        println!("seed {seed}");
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(seed));
        let lost = runtime.block_on(async move {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let directory = disk.directory("d");
            let mut names = BTreeMap::new();
            let mut history = vec![names.clone()];
            for tag in 1..random.random_range(2..40) {
                change_names(&directory, &mut names, &mut random, tag)
                    .await
                    .unwrap();
                history.push(names.clone());
                if random.random_bool(0.1) {
                    directory.sync().await.unwrap();
                    history = vec![names.clone()];
                }
            }
            let disk = disk.crashed_copy(&handle, seed);
            let directory = disk.directory("d");
            let mut found = BTreeMap::new();
            for name in directory.list().await.unwrap() {
                let file = directory.open(&name).await.unwrap();
                // A file whose creation survived and whose first write did not is empty.
                let tag = if file.size_bytes().await.unwrap() == 0 {
                    0
                } else {
                    let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
                    result.unwrap();
                    tag_of(&buffer)
                };
                found.insert(name, tag);
            }
            // Durable writes commit the creation before them, so no file can be empty.
            let instant = history.iter().rposition(|names| *names == found);
            let instant = instant.unwrap_or_else(|| panic!("{found:?} never was: {history:#?}"));
            history.len() - 1 - instant
        });
        went_back += usize::from(lost > 0);
    }
    assert!(
        went_back > 40,
        "only {went_back} crashes lost any change of names"
    );
}

#[test]
fn a_size_that_was_not_flushed_may_be_lost_and_one_that_was_may_not() {
    let mut sizes = BTreeSet::new();
    for seed in 0..60 {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let (volatile, durable) = runtime.block_on(async move {
            let directory = disk.directory("d");
            let volatile = directory.create("volatile").await.unwrap();
            let durable = directory.create("durable").await.unwrap();
            directory.sync().await.unwrap();
            let bytes = Rc::new(tagged(4, 1));
            durable
                .write(0, Rc::clone(&bytes), Persistence::Durable)
                .await
                .unwrap();
            volatile
                .write(0, bytes, Persistence::Volatile)
                .await
                .unwrap();
            let directory = disk.crashed_copy(&handle, seed).directory("d");
            let volatile = directory.open("volatile").await.unwrap();
            let durable = directory.open("durable").await.unwrap();
            let sizes = (volatile.size_bytes().await, durable.size_bytes().await);
            (sizes.0.unwrap(), sizes.1.unwrap())
        });
        assert_eq!(durable, 4 * BLOCK);
        sizes.insert(volatile);
    }
    assert_eq!(sizes, BTreeSet::from([0, 4 * BLOCK]));
}

#[test]
fn the_writes_that_a_power_cut_met_are_known() {
    let (mut lost, mut whole, mut partly) = (0, 0, 0);
    for seed in 0..60 {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::default());
        let kept = runtime.block_on(async move {
            let directory = disk.directory("d");
            let file = directory.create("f").await.unwrap();
            file.set_size_bytes(4 * BLOCK).await.unwrap();
            file.sync().await.unwrap();
            directory.sync().await.unwrap();
            let bytes = Rc::new(tagged(2, 9));
            let write = file.write(BLOCK, bytes, Persistence::Volatile);
            write.await.unwrap();
            disk.crash(seed);
            let [write] = &disk.cut_writes()[..] else {
                panic!("one write was not flushed: {:?}", disk.cut_writes());
            };
            assert_eq!((write.file.as_str(), write.completed), ("d/f", true));
            assert_eq!((write.offset_bytes, write.length_bytes), (BLOCK, 2 * BLOCK));
            let file = disk.reopen(&handle).directory("d").open("f").await.unwrap();
            let (bytes, result) = file.read(BLOCK, Buffer::zeroed(2 * BLOCK as usize)).await;
            result.unwrap();
            let kept = bytes.chunks(512).filter(|sector| tag_of(sector) == 9);
            assert_eq!(write.sectors_kept, kept.count() as u64, "seed {seed}");
            write.sectors_kept
        });
        match kept {
            0 => lost += 1,
            16 => whole += 1,
            _ => partly += 1,
        }
    }
    assert!(lost > 0 && whole > 0 && partly > 0);
}

#[test]
fn power_can_be_cut_at_a_chosen_request() {
    for (after_power_loss, hangs) in [(AfterPowerLoss::Fail, false), (AfterPowerLoss::Hang, true)] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let options = SimulatedOptions {
            after_power_loss,
            ..SimulatedOptions::default()
        };
        let disk = SimulatedDisk::new(&handle, options);
        runtime.block_on(async move {
            let directory = disk.directory("d");
            let file = directory.create("f").await.unwrap();
            directory.sync().await.unwrap();
            disk.set_fault(Fault::once(IoOperation::Write, 3, FaultEffect::CutPower(1)));
            let writer = handle.spawn(async move {
                for block in 0.. {
                    let bytes = Rc::new(tagged(1, block));
                    let write = file.write(block * BLOCK, bytes, Persistence::Durable);
                    if let Err(error) = write.await {
                        assert_eq!(error.failure, IoFailure::PowerLost);
                        return block;
                    }
                }
                unreachable!()
            });
            handle.sleep_ns(10_000_000).await;
            assert!(!disk.has_power());
            assert_eq!(writer.is_finished(), !hangs);
            if !hangs {
                assert_eq!(writer.await, 2);
            }
            let file = disk.reopen(&handle).directory("d").open("f").await.unwrap();
            assert_eq!(file.size_bytes().await.unwrap(), 2 * BLOCK);
        });
    }
}

#[test]
fn a_write_goes_on_when_nobody_waits_for_it() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let options = SimulatedOptions {
        write_ns: 1_000..=1_000,
        ..SimulatedOptions::instant()
    };
    let disk = SimulatedDisk::new(&handle, options);
    runtime.block_on(async move {
        let file = disk.directory("d").create("f").await.unwrap();
        let bytes = Rc::new(tagged(1, 5));
        let mut write = Box::pin(file.write(0, bytes, Persistence::Durable));
        std::future::poll_fn(|context| {
            assert!(write.as_mut().poll(context).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        drop(write);
        handle.sleep_ns(2_000).await;
        let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
        result.unwrap();
        assert_eq!(tag_of(&buffer), 5);
    });
}

#[test]
fn a_failed_flush_loses_the_writes_for_good() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
    runtime.block_on(async move {
        let directory = disk.directory("d");
        let file = directory.create("f").await.unwrap();
        file.set_size_bytes(BLOCK).await.unwrap();
        file.sync().await.unwrap();
        directory.sync().await.unwrap();
        file.write(0, Rc::new(tagged(1, 5)), Persistence::Volatile)
            .await
            .unwrap();
        let fail = FaultEffect::Fail(IoFailure::Device("write-back failed".into()));
        disk.set_fault(Fault::once(IoOperation::Sync, 1, fail));
        assert!(file.sync().await.is_err());
        file.sync().await.unwrap();
        disk.crash(1);
        let file = disk.reopen(&handle).directory("d").open("f").await.unwrap();
        let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
        result.unwrap();
        assert_eq!(tag_of(&buffer), 0);
    });
}

/// Everything that a disk under load does until it crashes, in words.
fn story(seed: u64) -> Vec<String> {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let options = SimulatedOptions {
        log_length: 100_000,
        ..SimulatedOptions::seeded(seed)
    };
    let disk = SimulatedDisk::new(&handle, options);
    runtime.block_on(async move {
        let file = disk.directory("d").create("f").await.unwrap();
        file.set_size_bytes((WRITERS * REGION_BLOCKS) as u64 * BLOCK)
            .await
            .unwrap();
        let possible = Rc::new(RefCell::new(vec![
            BTreeSet::new();
            WRITERS * REGION_BLOCKS * 8
        ]));
        for region in 0..WRITERS {
            let random = Xoshiro256PlusPlus::seed_from_u64(seed + region as u64);
            let (file, possible) = (file.clone(), Rc::clone(&possible));
            handle.spawn(write_until_power_is_lost(file, region, possible, random));
        }
        handle.sleep_ns(10_000_000).await;
        disk.crash(seed);
        disk.log().iter().map(ToString::to_string).collect()
    })
}

#[test]
fn one_seed_is_one_story() {
    for seed in 0..5 {
        let first = story(seed);
        assert!(first.len() > 100);
        assert_eq!(first, story(seed), "seed {seed}");
        assert_ne!(first, story(seed + 1));
    }
}
