//! Real files on the file system of the build directory.

#![allow(clippy::unwrap_used)] // A test says what must not fail by unwrapping it.

use crate::common::{in_directory, on_real_storage, runtimes};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::buffer::BLOCK_BYTES;
use runtime::host::{CreatedFiles, DirectoryHandle, OpenError};
use runtime::{
    Buffer, BufferArena, Directory, File, Handle, HostDirectory, HostFile, IoError, IoFailure,
    IoOperation, Persistence, Runtime,
};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

const BLOCK: u64 = BLOCK_BYTES as u64;

fn filled(mut buffer: Buffer, value: u8) -> Rc<Buffer> {
    buffer.fill(value);
    Rc::new(buffer)
}

fn some_persistence(random: &mut Xoshiro256PlusPlus) -> Persistence {
    if random.random_bool(0.3) {
        Persistence::Durable
    } else {
        Persistence::Volatile
    }
}

/// Random work on one file against a vector of bytes; buffers from the arena, the heap and both.
async fn random_work(handle: Handle, directory: HostDirectory, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let arena = BufferArena::new(&handle, 2 * BLOCK_BYTES, 6).unwrap();
    let file = directory.create("file").await.unwrap();
    let mut model: Vec<u8> = Vec::new();
    for _ in 0..150 {
        let buffers = random.random_range(1..=5);
        let buffers: Vec<_> = (0..buffers)
            .map(|_| match random.random_bool(0.7) {
                true => arena.buffer(),
                false => Buffer::zeroed(random.random_range(1..4) * BLOCK_BYTES),
            })
            .collect();
        let length: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let offset = random.random_range(0..40) * BLOCK_BYTES;
        let end = offset + length;
        match random.random_range(0..9) {
            0..4 => {
                let buffers: Vec<_> = buffers
                    .into_iter()
                    .map(|buffer| filled(buffer, random.random_range(0..=255)))
                    .collect();
                let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_vec()).collect();
                let persistence = some_persistence(&mut random);
                if buffers.len() == 1 {
                    let buffer = Rc::clone(&buffers[0]);
                    file.write(offset as u64, buffer, persistence).await
                } else {
                    file.write_vectored(offset as u64, buffers, persistence)
                        .await
                }
                .unwrap();
                model.resize(model.len().max(end), 0);
                model[offset..end].copy_from_slice(&bytes);
            }
            4 => file.sync().await.unwrap(),
            5 => {
                file.set_size_bytes(offset as u64).await.unwrap();
                model.resize(offset, 0);
            }
            _ => {
                let (buffers, result) = file.read_vectored(offset as u64, buffers).await;
                if end > model.len() {
                    assert_eq!(result.unwrap_err().failure, IoFailure::PastEnd);
                } else {
                    result.unwrap();
                    let bytes: Vec<u8> =
                        buffers.iter().flat_map(|buffer| buffer.to_vec()).collect();
                    assert!(bytes == model[offset..end]);
                }
            }
        }
        assert_eq!(file.size_bytes().await.unwrap(), model.len() as u64);
    }
    directory.remove("file").await.unwrap();
}

#[test]
fn files_behave_like_bytes_in_memory() {
    on_real_storage(|handle, directory| async move {
        for seed in 0..4 {
            println!("seed {seed}");
            random_work(handle.clone(), directory.clone(), seed).await;
        }
    });
}

#[test]
fn many_tasks_read_and_write_at_once() {
    const TASKS: u64 = 300; // More than the submission queue holds.
    on_real_storage(|handle, directory| async move {
        let arena = BufferArena::new(&handle, BLOCK_BYTES, 100).unwrap();
        let file = directory.create("file").await.unwrap();
        file.set_size_bytes(TASKS * BLOCK).await.unwrap();
        let tasks: Vec<_> = (0..TASKS)
            .map(|number| {
                let (file, arena) = (file.clone(), arena.clone());
                handle.spawn(async move {
                    for round in 0..5_u64 {
                        let value = (number * 7 + round) as u8;
                        let buffer = filled(arena.buffer(), value);
                        file.write(number * BLOCK, buffer, Persistence::Volatile)
                            .await
                            .unwrap();
                        let (buffer, result) = file.read(number * BLOCK, arena.buffer()).await;
                        result.unwrap();
                        assert!(buffer.iter().all(|byte| *byte == value));
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
        assert_eq!(arena.free_slots(), 100);
    });
}

#[test]
fn more_buffers_than_a_request_carries_are_written_and_read() {
    const BUFFERS: usize = 2_500; // The kernel takes 1,024.
    on_real_storage(|_, directory| async move {
        let file = directory.create("file").await.unwrap();
        let buffers: Vec<_> = (0..BUFFERS)
            .map(|number| filled(Buffer::zeroed(BLOCK_BYTES), (number % 251) as u8))
            .collect();
        let written = file.write_vectored(0, buffers, Persistence::Durable);
        written.await.unwrap();
        assert_eq!(file.size_bytes().await.unwrap(), BUFFERS as u64 * BLOCK);
        let targets = (0..BUFFERS).map(|_| Buffer::zeroed(BLOCK_BYTES));
        let (read, result) = file.read_vectored(0, targets.collect()).await;
        result.unwrap();
        for (number, buffer) in read.iter().enumerate() {
            let expected = (number % 251) as u8;
            assert!(buffer.iter().all(|&byte| byte == expected), "{number}");
        }
    });
}

#[test]
fn directories_work_like_directories() {
    on_real_storage(|_, directory| async move {
        let file = directory.create("a").await.unwrap();
        let error = directory.create("a").await.err().unwrap();
        assert_eq!(error.failure, IoFailure::AlreadyExists);
        let error = directory.open("b").await.err().unwrap();
        assert_eq!(error.failure, IoFailure::NotFound);
        let other = directory.create("b").await.unwrap();
        for (file, value) in [(&file, 1), (&other, 2)] {
            let buffer = filled(Buffer::zeroed(BLOCK_BYTES), value);
            file.write(0, buffer, Persistence::Durable).await.unwrap();
        }
        directory.rename("b", "a").await.unwrap();
        directory.sync().await.unwrap();
        assert_eq!(directory.list().await.unwrap(), ["a"]);
        assert!(other.name().ends_with("/a"), "{}", other.name());
        for (file, value) in [(&file, 1), (&directory.open("a").await.unwrap(), 2)] {
            let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
            result.unwrap();
            assert_eq!(buffer[0], value);
        }
        directory.remove("a").await.unwrap();
        let error = directory.remove("a").await.unwrap_err();
        assert_eq!(
            (error.operation, error.failure),
            (IoOperation::Remove, IoFailure::NotFound)
        );
        let error = directory.rename("a", "b").await.unwrap_err();
        assert_eq!(error.failure, IoFailure::NotFound);
        assert!(directory.list().await.unwrap().is_empty());
    });
}

#[test]
fn a_grown_file_has_its_space_reserved() {
    on_real_storage(|_, directory| async move {
        use std::os::unix::fs::MetadataExt;
        let file = directory.create("file").await.unwrap();
        file.set_size_bytes(1 << 20).await.unwrap();
        let path = Path::new(&directory.describe()).join("file");
        let metadata = std::fs::metadata(path).unwrap();
        assert_eq!(metadata.len(), 1 << 20);
        assert!(metadata.blocks() * 512 >= 1 << 20);
        let (buffer, result) = file.read(0, filled_with_ones()).await;
        result.unwrap();
        assert!(buffer.iter().all(|byte| *byte == 0));
    });
}

fn filled_with_ones() -> Buffer {
    let mut buffer = Buffer::zeroed(BLOCK_BYTES);
    buffer.fill(1);
    buffer
}

/// Polls a request once, so that it is under way, and drops it.
async fn begin_and_abandon<F: Future>(request: F) {
    let mut request = Box::pin(request);
    std::future::poll_fn(|context| {
        assert!(request.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
}

#[test]
fn abandoned_requests_keep_their_memory_and_finish() {
    on_real_storage(|handle, directory| async move {
        let arena = BufferArena::new(&handle, BLOCK_BYTES, 64).unwrap();
        let file = directory.create("file").await.unwrap();
        file.set_size_bytes(64 * BLOCK).await.unwrap();
        for block in 0..32 {
            let buffer = filled(arena.buffer(), 9);
            begin_and_abandon(file.write(block * BLOCK, buffer, Persistence::Volatile)).await;
            begin_and_abandon(file.read(block * BLOCK, arena.buffer())).await;
        }
        // The kernel still has every buffer, so none can be handed out again.
        assert_eq!(arena.free_slots(), 0);
        let spare = arena.buffer();
        assert!(!spare.is_from_arena());
        while arena.free_slots() < 64 {
            handle.sleep_ns(1_000_000).await;
        }
        for block in 0..32 {
            let (buffer, result) = file.read(block * BLOCK, arena.buffer()).await;
            result.unwrap();
            assert_eq!(buffer[0], 9);
        }
    });
}

#[test]
fn a_dropped_runtime_waits_for_its_requests() {
    for runtime in runtimes() {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        in_directory(&runtime, place.path(), |handle, directory| async move {
            let file = directory.create("file").await.unwrap();
            for block in 0..100 {
                let file = file.clone();
                handle.spawn(async move {
                    let buffer = filled(Buffer::zeroed(BLOCK_BYTES), 5);
                    file.write(block * BLOCK, buffer, Persistence::Durable)
                        .await
                        .unwrap();
                });
            }
            handle.yield_now().await;
        });
        drop(runtime);
        let file = place.path().join("file");
        if let Ok(bytes) = std::fs::read(file) {
            assert_eq!(bytes.len(), 100 * BLOCK_BYTES);
            assert!(bytes.iter().all(|byte| *byte == 5));
        }
    }
}

#[test]
fn files_may_outlive_their_runtime() {
    for runtime in runtimes() {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let Ok(directory) = HostDirectory::open(&runtime.handle(), place.path()) else {
            return test_support::skip("the file system has no direct I/O");
        };
        let arena = BufferArena::new(&runtime.handle(), BLOCK_BYTES, 4).unwrap();
        let opened = directory.clone();
        let file = runtime.block_on(async move { opened.create("file").await.unwrap() });
        drop(runtime);
        assert!(file.name().ends_with("/file"));
        drop((arena.buffer(), arena, file, directory));
    }
}

#[test]
fn places_that_cannot_be_used_say_why() {
    for runtime in runtimes() {
        says_why(&runtime);
    }
}

fn says_why(runtime: &Runtime) {
    let handle = runtime.handle();
    let error = |path: &str| HostDirectory::open(&handle, Path::new(path)).err().unwrap();
    assert!(matches!(error("/dev/null"), OpenError::NotADirectory(_)));
    assert!(matches!(error("/nowhere/at/all"), OpenError::System { .. }));
    let error = HostFile::open_device(&handle, Path::new("/dev/null"))
        .err()
        .unwrap();
    assert!(matches!(error, OpenError::NotADevice(_)));
    assert!(error.to_string().contains("/dev/sdb"));
}

#[test]
fn what_is_no_file_with_one_name_is_not_opened_for_writing() {
    on_real_storage(|handle, directory| async move {
        let path = std::path::PathBuf::from(directory.describe());
        drop(directory.create("file").await.unwrap());
        std::fs::hard_link(path.join("file"), path.join("second")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(path.join("pipe"))
            .status();
        assert!(made.unwrap().success());
        let reading = HostDirectory::open_for_reading(&handle, &path).unwrap();
        let failure = |opened: Result<HostFile, IoError>| opened.map(drop).unwrap_err().failure;
        for (name, is_read) in [("file", true), ("second", true), ("pipe", false)] {
            let refused = failure(directory.open(name).await);
            assert!(matches!(refused, IoFailure::NotOwn(_)), "{name}: {refused}");
            assert_eq!(reading.open(name).await.is_ok(), is_read, "{name}");
        }
        std::fs::remove_file(path.join("second")).unwrap();
        assert!(directory.open("file").await.is_ok());
    });
}

#[test]
fn a_file_that_is_gone_was_not_made_here_any_more() {
    on_real_storage(|handle, directory| async move {
        let path = std::path::PathBuf::from(directory.describe());
        let created = Arc::new(CreatedFiles::default());
        let same = DirectoryHandle::open(&path).unwrap();
        let made = HostDirectory::at(&handle, same, Arc::clone(&created)).unwrap();
        let names = DirectoryHandle::open(&path).unwrap();
        let identity = |name: &str| names.identity_of(name).unwrap();
        for name in ["one", "two", "three"] {
            drop(made.create(name).await.unwrap());
        }
        let [one, two, three] = ["one", "two", "three"].map(|name| identity(name).unwrap());
        made.remove("one").await.unwrap();
        made.rename("two", "three").await.unwrap();
        assert_eq!(identity("three"), Some(two));
        // A file of somebody else may get the numbers of those that are gone.
        let is_known = [one, two, three].map(|file| created.contains(file));
        assert_eq!(is_known, [false, true, false]);
        // What was not done leaves it as it is.
        assert!(made.rename("nothing", "three").await.is_err());
        assert!(created.contains(two));
    });
}

#[test]
fn memory_of_free_slots_is_given_back_and_comes_again() {
    on_real_storage(|_, _| async move {
        let slots = |arena: &BufferArena, count: usize| -> Vec<Buffer> {
            (0..count).map(|_| arena.buffer()).collect()
        };
        let arena = BufferArena::releasable(BLOCK_BYTES, 8).unwrap();
        assert!(!arena.is_registered(), "the kernel keeps what a ring knows");
        let mut held = slots(&arena, 8);
        held.iter_mut().for_each(|buffer| buffer.fill(7));
        arena.keep(2);
        assert!(
            held.iter()
                .all(|buffer| buffer.iter().all(|byte| *byte == 7))
        );
        held.truncate(3);
        arena.keep(2);
        assert_eq!(arena.free_slots(), 5, "slots without memory are free, too");
        // Who needs more than is kept has more, and finds zeros where memory was given back.
        let again = slots(&arena, 5);
        assert_eq!(arena.free_slots(), 0);
        let zeros = again
            .iter()
            .filter(|buffer| buffer.iter().all(|byte| *byte == 0));
        assert_eq!(zeros.count(), 5);
        drop(again);
        arena.keep(8);
        let mut again = slots(&arena, 5);
        again.iter_mut().for_each(|buffer| buffer.fill(9));
        assert!(
            held.iter()
                .all(|buffer| buffer.iter().all(|byte| *byte == 7))
        );
    });
}
