//! How far apart ranks begin what they begin together: the figures of docs/scale.md.
//!
//!     cargo run --release -p ranks --example start_skew -- 64
//!
//! The ranks are threads of this process, so that one clock shows when each of them has begun. Each has two
//! threads: more ranks than the machine has CPUs show the cost of that, too.

use std::thread;
use std::time::{Duration, Instant};

use ranks::{Heartbeats, InProcess, Peers};

/// How often they begin together.
const ROUNDS: usize = 20;

/// How often a rank asks whether it may begin: as the controller of a run does.
const POLL: Duration = Duration::from_millis(10);

fn main() {
    let size = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let size = size.unwrap_or(64);
    let began = Instant::now();
    let ranks = InProcess::connected(size).into_iter().map(|transport| {
        thread::spawn(move || {
            let timeout = Duration::from_secs(60);
            let joined = Peers::join("host".to_owned(), Heartbeats { timeout }, || Ok(transport));
            let Ok(peers) = joined else {
                return (Vec::new(), 0);
            };
            let uncertainty_ns = peers.offset().uncertainty_ns;
            let begin = |round: usize| {
                while !peers.may_pass(&format!("round {round}")) {
                    thread::sleep(POLL);
                }
                began.elapsed()
            };
            let begun: Vec<Duration> = (0..ROUNDS).map(begin).collect();
            peers.leave();
            (begun, uncertainty_ns)
        })
    });
    let ranks: Vec<_> = ranks.collect();
    let all: Vec<_> = ranks
        .into_iter()
        .filter_map(|rank| rank.join().ok())
        .collect();
    let mut spreads_ms: Vec<f64> = (0..ROUNDS)
        .filter_map(|round| {
            let times = || all.iter().filter_map(|(begun, _)| begun.get(round));
            let spread = times().max()?.saturating_sub(*times().min()?);
            Some(spread.as_secs_f64() * 1e3)
        })
        .collect();
    spreads_ms.sort_by(f64::total_cmp);
    let uncertainty_ns = all.iter().map(|(_, uncertainty_ns)| *uncertainty_ns).max();
    println!(
        "{size} ranks: first to last begin, median {:.2} ms, max {:.2} ms of {ROUNDS}; least certain clock \
         offset {:.3} ms",
        spreads_ms.get(ROUNDS / 2).copied().unwrap_or_default(),
        spreads_ms.last().copied().unwrap_or_default(),
        uncertainty_ns.unwrap_or(0) as f64 / 1e6
    );
}
