//! A directory on a device: behaviour, crashes, and devices that are not ours.

#![allow(clippy::unwrap_used)] // A test says what must not fail by unwrapping it.

use crate::common::model::{Model, Step, observe, random_step};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::buffer::BLOCK_BYTES;
use runtime::raw::{DeviceContent, FormatOptions, RawError, inspect};
use runtime::simulated::{Fault, FaultEffect, Tearing};
use runtime::{
    Buffer, Directory, File, Handle, IoFailure, IoOperation, Persistence, RawDirectory, Runtime,
    SimulatedDisk, SimulatedFile, SimulatedOptions,
};
use std::cell::RefCell;
use std::rc::Rc;

const BLOCK: u64 = BLOCK_BYTES as u64;

fn small() -> FormatOptions {
    FormatOptions {
        identity: 77,
        files_max: 12,
        allocation_bytes: 2 * BLOCK,
    }
}

/// A disk with one file that stands for a device.
async fn new_device(disk: &SimulatedDisk, size_bytes: u64) -> SimulatedFile {
    let directory = disk.directory("dev");
    let device = directory.create("sda").await.unwrap();
    device.set_size_bytes(size_bytes).await.unwrap();
    device.sync().await.unwrap();
    directory.sync().await.unwrap();
    device
}

async fn device_of(disk: &SimulatedDisk) -> SimulatedFile {
    disk.directory("dev").open("sda").await.unwrap()
}

fn on_simulated_disk<F: Future<Output = ()> + 'static>(
    options: SimulatedOptions,
    test: impl FnOnce(Handle, SimulatedDisk) -> F,
) {
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), options);
    runtime.block_on(test(runtime.handle(), disk));
}

#[test]
fn a_device_that_is_not_ours_is_refused() {
    on_simulated_disk(SimulatedOptions::instant(), |_, disk| async move {
        let device = new_device(&disk, 64 * BLOCK).await;
        let error = RawDirectory::open(device.clone()).await.err().unwrap();
        assert!(matches!(error, RawError::NoLabel), "{error}");
        let large = FormatOptions::new(1);
        let error = RawDirectory::format(device.clone(), &large)
            .await
            .err()
            .unwrap();
        assert!(matches!(error, RawError::TooSmall { .. }), "{error}");
        assert_eq!(inspect(&device).await.unwrap(), DeviceContent::Blank);
        let mut end = Buffer::zeroed(BLOCK_BYTES);
        end[BLOCK_BYTES - 1] = 1;
        device
            .write(63 * BLOCK, Rc::new(end), Persistence::Durable)
            .await
            .unwrap();
        assert_eq!(inspect(&device).await.unwrap(), DeviceContent::Foreign);
        RawDirectory::format(device.clone(), &small())
            .await
            .unwrap();
        assert_eq!(inspect(&device).await.unwrap(), DeviceContent::Ours);
        RawDirectory::open(device.clone()).await.unwrap();

        let (mut label, _) = device.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
        label[20] ^= 1;
        device
            .write(0, Rc::new(label), Persistence::Durable)
            .await
            .unwrap();
        let error = RawDirectory::open(device).await.err().unwrap();
        assert!(matches!(error, RawError::Damaged(_)), "{error}");
    });
}

#[test]
fn a_new_format_forgets_the_old_files() {
    on_simulated_disk(SimulatedOptions::instant(), |_, disk| async move {
        let device = new_device(&disk, 64 * BLOCK).await;
        let directory = RawDirectory::format(device.clone(), &small())
            .await
            .unwrap();
        let free_bytes = directory.free_bytes();
        let file = directory.create("old").await.unwrap();
        file.set_size_bytes(8 * BLOCK).await.unwrap();
        assert_eq!(directory.free_bytes(), free_bytes - 8 * BLOCK);
        let again = FormatOptions {
            identity: 78,
            ..small()
        };
        let directory = RawDirectory::format(device, &again).await.unwrap();
        assert!(directory.list().await.unwrap().is_empty());
        assert_eq!(directory.free_bytes(), free_bytes);
    });
}

#[test]
fn a_removed_file_keeps_its_space_while_it_is_open() {
    on_simulated_disk(SimulatedOptions::instant(), |_, disk| async move {
        let device = new_device(&disk, 64 * BLOCK).await;
        let directory = RawDirectory::format(device, &small()).await.unwrap();
        let free_bytes = directory.free_bytes();
        let file = directory.create("a").await.unwrap();
        let mut ones = Buffer::zeroed(2 * BLOCK_BYTES);
        ones.fill(1);
        file.write(0, Rc::new(ones), Persistence::Durable)
            .await
            .unwrap();
        directory.remove("a").await.unwrap();
        assert_eq!(directory.free_bytes(), free_bytes - 2 * BLOCK);
        let (buffer, result) = file.read(BLOCK, Buffer::zeroed(BLOCK_BYTES)).await;
        result.unwrap();
        assert_eq!(buffer[0], 1);
        drop(file);
        assert_eq!(directory.free_bytes(), free_bytes);
    });
}

#[test]
fn bytes_of_former_owners_are_never_seen() {
    on_simulated_disk(SimulatedOptions::instant(), |_, disk| async move {
        let device = new_device(&disk, 64 * BLOCK).await;
        let directory = RawDirectory::format(device.clone(), &small())
            .await
            .unwrap();
        let file = directory.create("secret").await.unwrap();
        let all_bytes = directory.free_bytes();
        let mut ones = Buffer::zeroed(all_bytes as usize);
        ones.fill(1);
        file.write(0, Rc::new(ones), Persistence::Durable)
            .await
            .unwrap();
        drop(file);
        directory.remove("secret").await.unwrap();
        let file = directory.create("new").await.unwrap();
        file.set_size_bytes(all_bytes).await.unwrap();
        // A write in the middle leaves a gap before it and an unwritten rest behind it.
        let mut twos = Buffer::zeroed(BLOCK_BYTES);
        twos.fill(2);
        file.write(5 * BLOCK, Rc::new(twos), Persistence::Volatile)
            .await
            .unwrap();
        file.sync().await.unwrap();
        let reopened = RawDirectory::open(device).await.unwrap();
        for file in [file, reopened.open("new").await.unwrap()] {
            let (buffer, result) = file.read(0, Buffer::zeroed(all_bytes as usize)).await;
            result.unwrap();
            for (block, bytes) in buffer.chunks(BLOCK_BYTES).enumerate() {
                let expected = if block == 5 { 2 } else { 0 };
                assert!(bytes.iter().all(|byte| *byte == expected), "block {block}");
            }
        }
    });
}

#[test]
fn a_full_device_and_a_full_table_say_so_and_go_on() {
    on_simulated_disk(SimulatedOptions::instant(), |_, disk| async move {
        let device = new_device(&disk, 64 * BLOCK).await;
        let directory = RawDirectory::format(device, &small()).await.unwrap();
        let free_bytes = directory.free_bytes();
        let file = directory.create("0").await.unwrap();
        let error = file.set_size_bytes(free_bytes + BLOCK).await.unwrap_err();
        assert_eq!(error.failure, IoFailure::OutOfSpace);
        assert_eq!(directory.free_bytes(), free_bytes);
        file.set_size_bytes(free_bytes).await.unwrap();
        for number in 1..12 {
            directory.create(&number.to_string()).await.unwrap();
        }
        let error = directory.create("12").await.err().unwrap();
        assert_eq!(error.failure, IoFailure::OutOfSpace);
        directory.remove("3").await.unwrap();
        directory.create("12").await.unwrap();
    });
}

/// Works at random until power is lost or `steps` are done.
async fn work<D: Directory>(
    directory: D,
    expected: Rc<RefCell<(Model, Model)>>,
    mut random: Xoshiro256PlusPlus,
    steps: u32,
) {
    let mut next_tag = 1_u64 + (random.random::<u64>() << 20 >> 1);
    for _ in 0..steps {
        let before = expected.borrow().1.clone();
        let step = random_step(&before, &mut random, &mut next_tag);
        let mut after = before.clone();
        after.begin(&step);
        *expected.borrow_mut() = (before.clone(), after);
        match step.perform(&directory).await {
            Ok(()) => {
                let mut done = before;
                done.complete(&step);
                *expected.borrow_mut() = (done.clone(), done);
            }
            Err(error) if error.failure == IoFailure::PowerLost => return,
            Err(error) => {
                assert_eq!(error.failure, IoFailure::OutOfSpace, "{error}: {step:?}");
                *expected.borrow_mut() = (before.clone(), before);
            }
        }
    }
}

/// Crashes, reopens and goes on, several times over.
async fn live_and_die(handle: Handle, disk: SimulatedDisk, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let device = new_device(&disk, 90 * BLOCK).await;
    RawDirectory::format(device, &small()).await.unwrap();
    let mut disk = disk;
    let expected = Rc::new(RefCell::new((Model::default(), Model::default())));
    for _ in 0..5 {
        let directory = RawDirectory::open(device_of(&disk).await).await.unwrap();
        let task_random = Xoshiro256PlusPlus::seed_from_u64(random.random());
        handle.spawn(work(directory, Rc::clone(&expected), task_random, 1_000));
        handle.sleep_ns(random.random_range(0..20_000_000)).await;
        disk.crash(random.random());
        disk = disk.reopen(&handle);
        let directory = RawDirectory::open(device_of(&disk).await).await.unwrap();
        let seen = observe(&directory).await;
        let (before, after) = expected.borrow().clone();
        assert!(
            before.allows(&seen) || after.allows(&seen),
            "before: {before:?}\nafter: {after:?}\nseen: {seen:?}"
        );
        *expected.borrow_mut() = (seen.clone(), seen);
    }
}

#[test]
fn names_sizes_and_bytes_survive_crashes() {
    for seed in 0..150 {
        println!("seed {seed}");
        on_simulated_disk(SimulatedOptions::seeded(seed), |handle, disk| {
            live_and_die(handle, disk, seed)
        });
    }
}

#[test]
fn nothing_is_lost_when_the_device_is_closed_in_order() {
    for seed in 0..20 {
        println!("seed {seed}");
        on_simulated_disk(SimulatedOptions::instant(), move |_, disk| async move {
            let device = new_device(&disk, 90 * BLOCK).await;
            let directory = RawDirectory::format(device, &small()).await.unwrap();
            let random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let expected = Rc::new(RefCell::new((Model::default(), Model::default())));
            work(directory.clone(), Rc::clone(&expected), random, 200).await;
            for name in directory.list().await.unwrap() {
                directory.open(&name).await.unwrap().sync().await.unwrap();
            }
            let before = observe(&directory).await;
            assert!(expected.borrow().0.allows(&before));
            let reopened = RawDirectory::open(device_of(&disk).await).await.unwrap();
            assert_eq!(observe(&reopened).await, before);
            assert_eq!(reopened.free_bytes(), directory.free_bytes());
        });
    }
}

#[test]
fn concurrent_writes_behind_the_written_part_lose_nothing() {
    for seed in 0..100 {
        println!("seed {seed}");
        let options = SimulatedOptions {
            tearing: Tearing::Pages { bytes: BLOCK },
            ..SimulatedOptions::seeded(seed)
        };
        on_simulated_disk(options, move |handle, disk| async move {
            let device = new_device(&disk, 200 * BLOCK).await;
            let directory = RawDirectory::format(device, &small()).await.unwrap();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let file = directory.create("f").await.unwrap();
            file.set_size_bytes(100 * BLOCK).await.unwrap();
            let durable = Rc::new(RefCell::new(Vec::new()));
            // Distinct blocks in a random order, so that gaps are filled while others write.
            let mut blocks: Vec<u64> = (0..100).collect();
            for index in 0..blocks.len() {
                let other = random.random_range(index..blocks.len());
                blocks.swap(index, other);
            }
            for block in blocks.into_iter().take(40) {
                let (file, durable, sleeper) = (file.clone(), Rc::clone(&durable), handle.clone());
                let delay_ns = random.random_range(0..3_000_000);
                let is_durable = random.random_bool(0.5);
                handle.spawn(async move {
                    sleeper.sleep_ns(delay_ns).await;
                    let mut buffer = Buffer::zeroed(BLOCK_BYTES);
                    buffer.fill(block as u8 + 1);
                    let persistence = if is_durable {
                        Persistence::Durable
                    } else {
                        Persistence::Volatile
                    };
                    let write = file.write(block * BLOCK, Rc::new(buffer), persistence);
                    if write.await.is_ok() && is_durable {
                        durable.borrow_mut().push(block);
                    }
                });
            }
            handle.sleep_ns(random.random_range(0..5_000_000)).await;
            disk.crash(seed);
            let disk = disk.reopen(&handle);
            let directory = RawDirectory::open(device_of(&disk).await).await.unwrap();
            let file = directory.open("f").await.unwrap();
            let (buffer, result) = file.read(0, Buffer::zeroed(100 * BLOCK_BYTES)).await;
            result.unwrap();
            for (block, bytes) in (0..).zip(buffer.chunks(BLOCK_BYTES)) {
                let written = bytes.iter().all(|byte| *byte == block as u8 + 1);
                let zero = bytes.iter().all(|byte| *byte == 0);
                assert!(written || zero, "block {block}");
                assert!(
                    written || !durable.borrow().contains(&block),
                    "block {block}"
                );
            }
        });
    }
}

#[test]
fn a_failed_change_of_the_table_changes_nothing() {
    on_simulated_disk(SimulatedOptions::instant(), |_, disk| async move {
        let device = new_device(&disk, 64 * BLOCK).await;
        let directory = RawDirectory::format(device, &small()).await.unwrap();
        let step = Step::Create { name: "a".into() };
        step.perform(&directory).await.unwrap();
        let fail = FaultEffect::Fail(IoFailure::Device("medium error".into()));
        disk.set_fault(Fault::from_then_on(IoOperation::Write, 1, fail));
        let file = directory.open("a").await.unwrap();
        assert!(directory.create("b").await.is_err());
        assert!(directory.rename("a", "b").await.is_err());
        assert!(directory.remove("a").await.is_err());
        let error = file.set_size_bytes(BLOCK).await.unwrap_err();
        assert_eq!(error.operation, IoOperation::Resize);
        assert!(error.file.ends_with(":a"), "{error}");
        disk.clear_faults();
        assert_eq!(directory.list().await.unwrap(), ["a"]);
        assert_eq!(file.size_bytes().await.unwrap(), 0);
        file.set_size_bytes(BLOCK).await.unwrap();
        directory.rename("a", "b").await.unwrap();
    });
}
