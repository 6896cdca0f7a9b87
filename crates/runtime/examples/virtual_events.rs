//! How many events a second the virtual clock gets through: `virtual_events TASKS SECONDS`. Every
//! task sleeps for random times and does nothing else.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::Runtime;
use runtime::time::{MICROSECOND_NS, MILLISECOND_NS};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tasks, seconds] = arguments.as_slice() else {
        return Err("usage: virtual_events TASKS SECONDS".into());
    };
    let (tasks, seconds): (u64, u64) = (tasks.parse()?, seconds.parse()?);
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let events = Rc::new(Cell::new(0_u64));
    let started = Instant::now();
    for seed in 0..tasks {
        let (sleeper, events) = (handle.clone(), Rc::clone(&events));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        handle.spawn(async move {
            loop {
                let sleep_ns = 50 * MICROSECOND_NS + random.random_range(0..5 * MILLISECOND_NS);
                sleeper.sleep_ns(sleep_ns).await;
                events.set(events.get() + 1);
            }
        });
    }
    while started.elapsed() < Duration::from_secs(seconds) {
        let sleeper = handle.clone();
        runtime.block_on(async move { sleeper.sleep_ns(100 * MILLISECOND_NS).await });
    }
    let rate = events.get() as f64 / started.elapsed().as_secs_f64();
    println!("{:.1} million events/s", rate / 1e6);
    Ok(())
}
