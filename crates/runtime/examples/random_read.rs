//! Random direct reads of a file, to compare with other tools:
//! `random_read FILE DEPTH SECONDS [BLOCK_BYTES [io-uring|threads]]`. Prints requests per second, CPU
//! time per request and the mean latency.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::time::SECOND_NS;
use runtime::{BufferArena, Directory, File, HostDirectory, IoDriver, Runtime, WallClockOptions};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

/// CPU time of all threads of this process so far, in nanoseconds.
fn processor_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let mut total_ns = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let schedstat = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        let busy = schedstat.split(' ').next().unwrap_or_default();
        total_ns += busy.parse::<u64>()?;
    }
    Ok(total_ns)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, depth, seconds, rest @ ..] = arguments.as_slice() else {
        return Err("usage: random_read FILE DEPTH SECONDS [BLOCK_BYTES [DRIVER]]".into());
    };
    let path = std::fs::canonicalize(file)?;
    let (depth, seconds): (u32, u64) = (depth.parse()?, seconds.parse()?);
    let block_bytes = rest.first().map_or(Ok(32 << 10), |bytes| bytes.parse())?;
    let drivers = [IoDriver::IoUring, IoDriver::Threads];
    let driver = rest
        .get(1)
        .and_then(|id| drivers.into_iter().find(|one| one.id() == id));
    let parent = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or("the file has no name")?.to_owned();

    let runtime = Runtime::wall_clock(&WallClockOptions::with_driver(driver))?;
    let handle = runtime.handle();
    let directory = HostDirectory::open(&handle, parent)?;
    let arena = BufferArena::new(&handle, block_bytes, depth)?;
    let reads = Rc::new(Cell::new(0_u64));
    let counted = Rc::clone(&reads);
    let started_ns = processor_ns()?;
    let elapsed_ns: Result<u64, runtime::IoError> = runtime.block_on(async move {
        let file = directory.open(&name).await?;
        let blocks = file.size_bytes().await? / block_bytes as u64;
        let start_ns = handle.now_ns();
        let end_ns = start_ns + seconds * SECOND_NS;
        let tasks: Vec<_> = (0..depth)
            .map(|task| {
                let (file, handle, arena) = (file.clone(), handle.clone(), arena.clone());
                let counted = Rc::clone(&counted);
                let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(task));
                handle.clone().spawn(async move {
                    while handle.now_ns() < end_ns {
                        let block = random.random_range(0..blocks);
                        let read = file.read(block * block_bytes as u64, arena.buffer());
                        read.await.1?;
                        counted.set(counted.get() + 1);
                    }
                    Ok(())
                })
            })
            .collect();
        for task in tasks {
            task.await?;
        }
        Ok(handle.now_ns() - start_ns)
    });
    let elapsed_ns = elapsed_ns?;
    let processor_ns = processor_ns()? - started_ns;
    let reads = reads.get();
    println!(
        "{:.0} reads/s, {:.2} us processor time per read, {:.1} us mean latency",
        reads as f64 * SECOND_NS as f64 / elapsed_ns as f64,
        processor_ns as f64 / reads as f64 / 1000.0,
        elapsed_ns as f64 * f64::from(depth) / reads as f64 / 1000.0,
    );
    Ok(())
}
