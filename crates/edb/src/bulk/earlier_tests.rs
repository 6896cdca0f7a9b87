//! Builds that were interrupted and go on, on simulated storage.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use runtime::{Buffer, Directory, File, Persistence, Runtime, SimulatedDisk, SimulatedOptions};

use super::tests::{TestRows, plan};
use super::{build, go_on};

const PAGE_BYTES: usize = 32_768;
const NAME: &str = "a.edb";

fn rows() -> TestRows {
    TestRows::new(900, 40_000)
}

async fn contents(disk: &SimulatedDisk) -> Vec<u8> {
    let file = disk.directory("d").open(NAME).await.unwrap();
    let size = file.size_bytes().await.unwrap() as usize;
    let (bytes, read) = file.read(0, Buffer::zeroed(size)).await;
    read.unwrap();
    bytes.to_vec()
}

/// A complete build on a disk of its own.
fn complete() -> (Runtime, SimulatedDisk, Vec<u8>) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
    let (to, clock) = (disk.clone(), handle);
    let whole = runtime.block_on(async move {
        let file = to.directory("d").create(NAME).await.unwrap();
        build(&clock, &file, &plan(PAGE_BYTES), &mut rows(), |_| ())
            .await
            .unwrap();
        contents(&to).await
    });
    (runtime, disk, whole)
}

/// Goes on with what is on the disk; gives the bytes that were there and the file at the end.
fn goes_on(runtime: &Runtime, disk: &SimulatedDisk) -> (u64, Vec<u8>) {
    let (handle, disk) = (runtime.handle(), disk.clone());
    runtime.block_on(async move {
        let file = disk.directory("d").open(NAME).await.unwrap();
        let found = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&found);
        let on_found = move |bytes| heard.borrow_mut().push(bytes);
        let plan = plan(PAGE_BYTES);
        go_on(&handle, &file, &plan, &mut rows(), on_found, |_| ())
            .await
            .unwrap();
        let found = found.take();
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0], contents(&disk).await)
    })
}

#[test]
fn a_build_without_power_goes_on_where_its_file_ends() {
    let (_, _, whole) = complete();
    let mut found_some = false;
    for seed in 0..12 {
        println!("seed {seed}");
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(seed));
        let doomed = disk.clone();
        let limit = whole.len() as u64 * (seed + 1) / 14;
        let written = Rc::new(Cell::new(0));
        let heard = Rc::clone(&written);
        let clock = handle.clone();
        runtime.block_on(async move {
            let file = doomed.directory("d").create(NAME).await.unwrap();
            doomed.directory("d").sync().await.unwrap();
            let power = doomed.clone();
            let progress = move |bytes| {
                heard.set(bytes);
                if bytes >= limit && power.has_power() {
                    power.crash(seed);
                }
            };
            let cut = build(&clock, &file, &plan(PAGE_BYTES), &mut rows(), progress).await;
            assert!(cut.is_err(), "the power was cut");
        });
        let runtime = Runtime::virtual_clock();
        let disk = disk.reopen(&runtime.handle());
        let (found, now) = goes_on(&runtime, &disk);
        assert!(now == whole, "another file");
        assert!(found <= written.get() + 2 * PAGE_BYTES as u64, "{found}");
        found_some |= found > 2 * PAGE_BYTES as u64;
    }
    assert!(found_some);
}

#[test]
fn a_complete_file_is_found_whole_and_not_changed() {
    let (runtime, disk, whole) = complete();
    let (found, now) = goes_on(&runtime, &disk);
    assert!(now == whole, "another file");
    assert!(found > whole.len() as u64 * 9 / 10 && found <= whole.len() as u64);
}

#[test]
fn what_differs_is_written_again() {
    let (runtime, disk, whole) = complete();
    let at = whole.len() / 2 / PAGE_BYTES * PAGE_BYTES;
    let to = disk.clone();
    runtime.block_on(async move {
        let file = to.directory("d").open(NAME).await.unwrap();
        let bytes = Buffer::zeroed(PAGE_BYTES);
        file.write(at as u64, bytes.into(), Persistence::Durable)
            .await
            .unwrap();
    });
    let (found, now) = goes_on(&runtime, &disk);
    assert!(now == whole, "another file");
    let at = at as u64;
    assert!(found <= at && found + (1 << 20) > at, "{found} of {at}");
}
