//! Block devices and full file systems, on loop devices. Needs root; says so and does nothing
//! without.

#![allow(clippy::unwrap_used)] // A test says what must not fail by unwrapping it.

use crate::common::model::{Model, observe, random_step};
use crate::common::{in_directory, runtimes};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::buffer::BLOCK_BYTES;
use runtime::host::OpenError;
use runtime::raw::FormatOptions;
use runtime::{
    AnyDirectory, Buffer, Directory, File, HostDirectory, HostFile, IoFailure, Persistence,
    RawDirectory, Runtime,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

const BLOCK: u64 = BLOCK_BYTES as u64;

/// Runs a program; what it printed, or `None` if it failed or is not there.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// A loop device over a sparse file, mounted or not; taken down when dropped.
struct LoopDevice {
    device: String,
    mounted_at: Option<PathBuf>,
    place: tempfile::TempDir,
}

impl LoopDevice {
    fn new(size_bytes: u64) -> Option<Self> {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let image = place.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(size_bytes)
            .unwrap();
        let device = run("losetup", &["--find", "--show", image.to_str().unwrap()]);
        let Some(device) = device else {
            test_support::skip("no loop device can be set up (needs root)");
            return None;
        };
        Some(Self {
            device,
            mounted_at: None,
            place,
        })
    }

    /// Makes a file system on it and mounts that.
    fn mount(&mut self) -> Option<PathBuf> {
        let path = self.place.path().join("mount");
        std::fs::create_dir(&path).unwrap();
        let made = run("mkfs.ext4", &["-q", "-m", "0", &self.device])
            .and_then(|_| run("mount", &[&self.device, path.to_str()?]));
        if made.is_none() {
            test_support::skip("no file system on a loop device can be mounted (needs root)");
            return None;
        }
        self.mounted_at = Some(path.clone());
        Some(path)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Some(path) = &self.mounted_at {
            run("umount", &[path.to_str().unwrap()]);
        }
        run("losetup", &["--detach", &self.device]);
    }
}

#[test]
fn a_full_file_system_is_found_when_space_is_reserved() {
    let Some(mut device) = LoopDevice::new(24 << 20) else {
        return;
    };
    let Some(path) = device.mount() else { return };
    for runtime in runtimes() {
        in_directory(&runtime, &path, |_, directory| fill(directory));
    }
}

async fn fill(directory: HostDirectory) {
    let file = directory.create("file").await.unwrap();
    let mut size_bytes = 1 << 20;
    file.set_size_bytes(size_bytes).await.unwrap();
    let error = loop {
        match file.set_size_bytes(size_bytes + (1 << 20)).await {
            Ok(()) => size_bytes += 1 << 20,
            Err(error) => break error,
        }
    };
    assert_eq!(error.failure, IoFailure::OutOfSpace);
    // The failed growth left the file as it was, and what is reserved can be written.
    assert_eq!(file.size_bytes().await.unwrap(), size_bytes);
    let buffer = Rc::new(Buffer::zeroed(1 << 20));
    for offset_bytes in (0..size_bytes).step_by(1 << 20) {
        file.write(offset_bytes, Rc::clone(&buffer), Persistence::Volatile)
            .await
            .unwrap();
    }
    file.sync().await.unwrap();
    let mut end_bytes = size_bytes;
    let error = loop {
        let write = file.write(end_bytes, Rc::clone(&buffer), Persistence::Durable);
        match write.await {
            Ok(()) => end_bytes += 1 << 20,
            Err(error) => break error,
        }
        assert!(
            end_bytes < 64 << 20,
            "more was written than there is room for"
        );
    };
    assert_eq!(error.failure, IoFailure::OutOfSpace);
    directory.remove("file").await.unwrap();
}

#[test]
fn a_device_holds_a_directory() {
    for runtime in runtimes() {
        holds_a_directory(&runtime);
    }
}

fn holds_a_directory(runtime: &Runtime) {
    let Some(device) = LoopDevice::new(4 << 20) else {
        return;
    };
    let handle = runtime.handle();
    let path = PathBuf::from(&device.device);
    runtime.block_on(async move {
        let file = HostFile::open_device(&handle, &path).unwrap();
        assert!(file.is_device());
        assert_eq!(file.size_bytes().await.unwrap(), 4 << 20);
        let error = file.set_size_bytes(5 << 20).await.unwrap_err();
        assert_eq!(error.failure, IoFailure::OutOfSpace);
        let end = file.write(
            4 << 20,
            Rc::new(Buffer::zeroed(BLOCK_BYTES)),
            Persistence::Durable,
        );
        assert_eq!(end.await.unwrap_err().failure, IoFailure::OutOfSpace);
        let (_, end) = file
            .read((4 << 20) - BLOCK, Buffer::zeroed(2 * BLOCK_BYTES))
            .await;
        assert_eq!(end.unwrap_err().failure, IoFailure::PastEnd);

        let options = FormatOptions {
            files_max: 16,
            allocation_bytes: 4 * BLOCK,
            ..FormatOptions::new(4)
        };
        let raw = RawDirectory::format(file, &options).await.unwrap();
        let error = HostFile::open_device(&handle, &path).err().unwrap();
        assert!(matches!(error, OpenError::Busy(_)), "{error}");

        let directory = AnyDirectory::Raw(raw);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut model, mut tag) = (Model::default(), 0);
        for _ in 0..300 {
            let step = random_step(&model, &mut random, &mut tag);
            match step.perform(&directory).await {
                Ok(()) => model.complete(&step),
                Err(error) => assert_eq!(error.failure, IoFailure::OutOfSpace, "{step:?}"),
            }
        }
        let seen = observe(&directory).await;
        assert!(model.allows(&seen));
        for name in directory.list().await.unwrap() {
            directory.open(&name).await.unwrap().sync().await.unwrap();
        }
        drop(directory);
        let file = HostFile::open_device(&handle, &path).unwrap();
        let reopened = RawDirectory::open(file).await.unwrap();
        assert_eq!(observe(&reopened).await, seen);
    });
}

#[test]
fn a_mounted_device_is_refused() {
    let Some(mut device) = LoopDevice::new(24 << 20) else {
        return;
    };
    if device.mount().is_none() {
        return;
    }
    for runtime in runtimes() {
        let opened = HostFile::open_device(&runtime.handle(), Path::new(&device.device));
        let error = opened.err().unwrap();
        assert!(matches!(error, OpenError::Busy(_)), "{error}");
    }
}
