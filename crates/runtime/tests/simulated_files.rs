//! Simulated files against a plain vector of bytes, and the faults that can be ordered.

#![allow(clippy::unwrap_used)] // A test says what must not fail by unwrapping it.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::buffer::BLOCK_BYTES;
use runtime::simulated::{Fault, FaultEffect, LoggedOutcome};
use runtime::{
    Buffer, Directory, File, IoFailure, IoOperation, Persistence, Runtime, SimulatedDisk,
    SimulatedFile, SimulatedOptions,
};
use std::rc::Rc;

const BLOCK: u64 = BLOCK_BYTES as u64;

fn filled(blocks: usize, value: u8) -> Buffer {
    let mut buffer = Buffer::zeroed(blocks * BLOCK_BYTES);
    buffer.fill(value);
    buffer
}

/// Runs `test` with an empty directory on a disk without latencies.
fn with_disk<F: Future<Output = ()> + 'static>(
    options: SimulatedOptions,
    test: impl FnOnce(SimulatedDisk) -> F,
) {
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), options);
    runtime.block_on(test(disk));
}

async fn first_byte(file: &SimulatedFile, block: u64) -> u8 {
    let (buffer, result) = file.read(block * BLOCK, Buffer::zeroed(BLOCK_BYTES)).await;
    result.unwrap();
    buffer[0]
}

async fn check_against(file: &SimulatedFile, model: &[u8], random: &mut Xoshiro256PlusPlus) {
    assert_eq!(file.size_bytes().await.unwrap(), model.len() as u64);
    let blocks = model.len() / BLOCK_BYTES;
    let first = random.random_range(0..=blocks);
    let count = random.random_range(1..=4);
    let (buffers, result) = file
        .read_vectored(
            first as u64 * BLOCK,
            (0..count).map(|_| filled(1, 0xEE)).collect(),
        )
        .await;
    if first + count > blocks {
        assert_eq!(result.unwrap_err().failure, IoFailure::PastEnd);
        return;
    }
    result.unwrap();
    let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_vec()).collect();
    assert!(bytes == model[first * BLOCK_BYTES..(first + count) * BLOCK_BYTES]);
}

async fn random_file_work(disk: SimulatedDisk, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let file = disk.directory("d").create("f").await.unwrap();
    let mut model: Vec<u8> = Vec::new();
    for _ in 0..60 {
        let persistence = if random.random_bool(0.5) {
            Persistence::Durable
        } else {
            Persistence::Volatile
        };
        match random.random_range(0..10) {
            0..5 => {
                let first = random.random_range(0..20);
                let buffers: Vec<_> = (0..random.random_range(1..4))
                    .map(|_| {
                        Rc::new(filled(
                            random.random_range(1..3),
                            random.random_range(0..=255),
                        ))
                    })
                    .collect();
                let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_vec()).collect();
                file.write_vectored(first as u64 * BLOCK, buffers, persistence)
                    .await
                    .unwrap();
                let range = first * BLOCK_BYTES..first * BLOCK_BYTES + bytes.len();
                model.resize(model.len().max(range.end), 0);
                model[range].copy_from_slice(&bytes);
            }
            5 => file.sync().await.unwrap(),
            6 => {
                let blocks = random.random_range(0..24);
                file.set_size_bytes(blocks as u64 * BLOCK).await.unwrap();
                model.resize(blocks * BLOCK_BYTES, 0);
            }
            _ => check_against(&file, &model, &mut random).await,
        }
    }
}

#[test]
fn files_behave_like_bytes_in_memory() {
    for seed in 0..300 {
        println!("seed {seed}");
        with_disk(SimulatedOptions::seeded(seed), move |disk| {
            random_file_work(disk, seed)
        });
    }
}

#[test]
fn a_killed_process_loses_nothing_that_completed() {
    with_disk(SimulatedOptions::default(), |disk| async move {
        let directory = disk.directory("d");
        let file = directory.create("f").await.unwrap();
        file.write(0, Rc::new(filled(3, 7)), Persistence::Volatile)
            .await
            .unwrap();
        assert_eq!(disk.used_bytes(), 3 * BLOCK);
        let directory = disk.killed_copy(&disk.handle()).directory("d");
        assert_eq!(directory.list().await.unwrap(), ["f"]);
        let file = directory.open("f").await.unwrap();
        assert_eq!(file.size_bytes().await.unwrap(), 3 * BLOCK);
        assert_eq!(first_byte(&file, 2).await, 7);
    });
}

#[test]
fn directories_refuse_what_makes_no_sense() {
    with_disk(SimulatedOptions::instant(), |disk| async move {
        let (databases, logs) = (disk.directory("db"), disk.directory("log"));
        databases.create("a").await.unwrap();
        let failure =
            |result: Result<SimulatedFile, runtime::IoError>| result.err().unwrap().failure;
        assert_eq!(
            failure(databases.create("a").await),
            IoFailure::AlreadyExists
        );
        assert_eq!(failure(logs.open("a").await), IoFailure::NotFound);
        assert!(logs.list().await.unwrap().is_empty());
        assert_eq!(
            databases.rename("b", "c").await.unwrap_err().failure,
            IoFailure::NotFound
        );
        databases.rename("a", "b").await.unwrap();
        databases.create("a").await.unwrap();
        assert_eq!(databases.list().await.unwrap(), ["a", "b"]);
        databases.remove("a").await.unwrap();
        assert_eq!(
            databases.remove("a").await.unwrap_err().failure,
            IoFailure::NotFound
        );
    });
}

#[test]
fn a_replaced_file_stays_readable_while_open() {
    with_disk(SimulatedOptions::instant(), |disk| async move {
        let directory = disk.directory("d");
        let old = directory.create("old").await.unwrap();
        let new = directory.create("new").await.unwrap();
        for (file, value) in [(&old, 1), (&new, 2)] {
            file.write(0, Rc::new(filled(1, value)), Persistence::Durable)
                .await
                .unwrap();
        }
        directory.rename("new", "old").await.unwrap();
        directory.sync().await.unwrap();
        assert_eq!(first_byte(&old, 0).await, 1);
        let opened = directory.open("old").await.unwrap();
        assert_eq!(first_byte(&opened, 0).await, 2);
        assert_eq!(new.name(), "d/old");
    });
}

#[test]
fn a_full_disk_says_so_and_goes_on() {
    let options = SimulatedOptions {
        capacity_bytes: 4 * BLOCK,
        ..SimulatedOptions::instant()
    };
    with_disk(options, |disk| async move {
        let directory = disk.directory("d");
        let file = directory.create("f").await.unwrap();
        file.set_size_bytes(3 * BLOCK).await.unwrap();
        assert_eq!(
            file.set_size_bytes(5 * BLOCK).await.unwrap_err().failure,
            IoFailure::OutOfSpace
        );
        let write = file.write(3 * BLOCK, Rc::new(filled(2, 1)), Persistence::Durable);
        assert_eq!(write.await.unwrap_err().failure, IoFailure::OutOfSpace);
        file.write(3 * BLOCK, Rc::new(filled(1, 1)), Persistence::Durable)
            .await
            .unwrap();
        assert_eq!(file.size_bytes().await.unwrap(), 4 * BLOCK);
    });
}

#[test]
fn faults_strike_the_request_they_name() {
    with_disk(SimulatedOptions::instant(), |disk| async move {
        let directory = disk.directory("d");
        let file = directory.create("f").await.unwrap();
        let other = directory.create("other").await.unwrap();
        let device = IoFailure::Device("medium error".into());
        let fail = FaultEffect::Fail(device.clone());
        disk.set_fault(Fault::once(IoOperation::Write, 2, fail.clone()).on_file("d/f"));
        disk.set_fault(Fault::from_then_on(IoOperation::Sync, 2, fail));
        for (attempt, fails) in [(1, false), (2, true), (3, false)] {
            for (file, fails) in [(&file, fails), (&other, false)] {
                let write = file.write(0, Rc::new(filled(1, attempt)), Persistence::Volatile);
                assert_eq!(write.await.is_err(), fails, "attempt {attempt}");
            }
        }
        file.sync().await.unwrap();
        for _ in 0..3 {
            let error = file.sync().await.unwrap_err();
            assert_eq!(
                (error.operation, error.failure),
                (IoOperation::Sync, device.clone())
            );
        }
        let log = disk.log();
        assert!(
            log.iter()
                .any(|line| line.to_string().contains("medium error"))
        );
    });
}

#[test]
fn silent_faults_leave_wrong_bytes() {
    with_disk(SimulatedOptions::instant(), |disk| async move {
        let file = disk.directory("d").create("f").await.unwrap();
        let write = |block: u64, value| {
            file.write(
                block * BLOCK,
                Rc::new(filled(1, value)),
                Persistence::Durable,
            )
        };
        for block in 0..3 {
            write(block, 1).await.unwrap();
        }
        disk.set_fault(Fault::once(IoOperation::Write, 1, FaultEffect::LoseWrite));
        write(0, 2).await.unwrap();
        assert_eq!(first_byte(&file, 0).await, 1);
        let wrong = disk.wrong_blocks("d/f");
        assert_eq!((wrong.len(), wrong[0].offset_bytes), (1, 0));
        assert_eq!((wrong[0].found[0], wrong[0].expected[0]), (1, 2));

        disk.clear_faults();
        let misdirect = FaultEffect::MisdirectWrite {
            by_bytes: BLOCK as i64,
        };
        disk.set_fault(Fault::once(IoOperation::Write, 1, misdirect));
        write(1, 3).await.unwrap();
        assert_eq!(first_byte(&file, 1).await, 1);
        assert_eq!(first_byte(&file, 2).await, 3);
        let wrong = disk.wrong_blocks("d/f");
        let bytes = wrong.iter().map(|one| (one.found[0], one.expected[0]));
        assert_eq!(bytes.collect::<Vec<_>>(), [(1, 2), (1, 3), (3, 1)]);
        disk.clear_faults();
        write(0, 1).await.unwrap();
        write(2, 4).await.unwrap();
        assert_eq!(disk.wrong_blocks("d/f").len(), 1, "two were written over");
        assert_eq!(disk.once_wrong_blocks("d/f"), [0, BLOCK, 2 * BLOCK]);

        disk.set_fault(Fault::once(IoOperation::Read, 1, FaultEffect::FlipBit));
        let wrong_bits =
            |buffer: &Buffer| -> u32 { buffer.iter().map(|byte| (byte ^ 1).count_ones()).sum() };
        for expected in [1, 0] {
            let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
            result.unwrap();
            assert_eq!(wrong_bits(&buffer), expected);
        }
        assert_eq!(disk.wrong_reads().len(), 1);

        disk.set_fault(Fault::once(
            IoOperation::Write,
            1,
            FaultEffect::CorruptWrite,
        ));
        write(0, 1).await.unwrap();
        for _ in 0..2 {
            let (buffer, _) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
            assert_eq!(wrong_bits(&buffer), 1);
        }
        let _ = disk.directory("d").open("nothing").await;
        let faults = disk.log().into_iter().map(|one| one.outcome);
        let faults: Vec<LoggedOutcome> = faults.filter(LoggedOutcome::is_fault).collect();
        let expected = [
            LoggedOutcome::Lost,
            LoggedOutcome::Misdirected,
            LoggedOutcome::Flipped,
            LoggedOutcome::Corrupted,
        ];
        assert_eq!(faults, expected);
    });
}

#[test]
fn a_stale_read_returns_what_was_there_at_power_on() {
    with_disk(SimulatedOptions::default(), |disk| async move {
        let file = disk.directory("d").create("f").await.unwrap();
        let write = |file: SimulatedFile, block: u64, value| async move {
            let bytes = Rc::new(filled(1, value));
            let written = file.write(block * BLOCK, bytes, Persistence::Durable);
            written.await.unwrap();
        };
        write(file, 0, 1).await;
        let disk = disk.restarted(&disk.handle(), SimulatedOptions::default());
        let file = disk.directory("d").open("f").await.unwrap();
        write(file.clone(), 0, 2).await;
        write(file.clone(), 1, 3).await;
        disk.set_fault(Fault {
            count: 2,
            ..Fault::once(IoOperation::Read, 1, FaultEffect::ReadStale)
        });
        assert_eq!(first_byte(&file, 0).await, 1);
        assert_eq!(first_byte(&file, 1).await, 0);
        assert_eq!(first_byte(&file, 0).await, 2);
        assert_eq!(disk.faults_injected(), 2);
        let reads = disk.wrong_reads();
        let wrong = reads.iter().map(|read| (&*read.file, read.blocks.len()));
        assert_eq!(wrong.collect::<Vec<_>>(), [("d/f", 1), ("d/f", 1)]);
    });
}

#[test]
fn a_delayed_request_takes_that_much_longer() {
    with_disk(SimulatedOptions::instant(), |disk| async move {
        let handle = disk.handle();
        let file = disk.directory("d").create("f").await.unwrap();
        let by_ns = 3_000_000_000;
        disk.set_fault(Fault::once(
            IoOperation::Write,
            1,
            FaultEffect::Delay { by_ns },
        ));
        let began_ns = handle.now_ns();
        for _ in 0..2 {
            let bytes = Rc::new(filled(1, 1));
            file.write(0, bytes, Persistence::Durable).await.unwrap();
            assert_eq!(handle.now_ns() - began_ns, by_ns);
        }
    });
}

#[test]
fn a_disk_can_be_given_another_size() {
    with_disk(SimulatedOptions::instant(), |disk| async move {
        let file = disk.directory("d").create("f").await.unwrap();
        let write = |block: u64| {
            let bytes = Rc::new(filled(1, 1));
            file.write(block * BLOCK, bytes, Persistence::Durable)
        };
        disk.set_capacity_bytes(BLOCK);
        write(0).await.unwrap();
        assert_eq!(write(1).await.unwrap_err().failure, IoFailure::OutOfSpace);
        disk.set_capacity_bytes(2 * BLOCK);
        write(1).await.unwrap();
    });
}

#[test]
fn requests_beyond_the_queue_depth_wait_in_line() {
    let options = SimulatedOptions {
        queue_depth: 2,
        write_ns: 100..=100,
        directory_ns: 0..=0,
        ..SimulatedOptions::default()
    };
    with_disk(options, |disk| async move {
        let file = disk.directory("d").create("f").await.unwrap();
        let handle = disk.handle();
        let start_ns = handle.now_ns();
        let writes: Vec<_> = (0..6)
            .map(|block| {
                let file = file.clone();
                handle.spawn(async move {
                    file.write(block * BLOCK, Rc::new(filled(1, 1)), Persistence::Durable)
                        .await
                        .unwrap();
                })
            })
            .collect();
        for write in writes {
            write.await;
        }
        assert_eq!(handle.now_ns() - start_ns, 300);
    });
}
