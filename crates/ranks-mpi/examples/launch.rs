//! Whether ranks find each other: the smallest program that is built with an MPI library.
//!
//!     MPICC=mpicc.mpich cargo build -p ranks-mpi --features library --example launch
//!     mpirun.mpich -n 4 target/debug/examples/launch

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use ranks::{Heartbeats, Peers};
use ranks_mpi::MpiTransport;

fn main() -> ExitCode {
    let timeout = Duration::from_secs(2);
    let joined = Peers::join(
        "host".to_owned(),
        Heartbeats { timeout },
        MpiTransport::start,
    );
    let peers = match joined {
        Ok(peers) => peers,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    while !peers.may_pass("begin") {
        thread::sleep(Duration::from_millis(10));
    }
    let begun_ns = peers.now_of_first_ns();
    let facts = format!("{begun_ns} {}", peers.offset().uncertainty_ns);
    for (rank, facts) in peers.gather("begun", facts.into_bytes()).iter().enumerate() {
        let facts = facts.as_deref().map(String::from_utf8_lossy);
        println!(
            "rank {rank} began and knows its clock to (ns): {}",
            facts.unwrap_or_default()
        );
    }
    if peers.is_first() {
        println!("{} ranks, {}", peers.size(), peers.library());
    }
    peers.leave();
    ExitCode::SUCCESS
}
