//! A witness, and runs that report to it and are killed.

use std::fs;
use std::time::{Duration, Instant};

use super::{Ended, Running, Scratch};

const SECRET: &str = "a secret of the tests";

/// A witness that runs.
pub struct Witness {
    _running: Running,
    /// Where it listens.
    pub address: String,
}

impl Witness {
    /// Starts one that keeps its records in `kept`.
    pub fn start(here: &Scratch) -> Self {
        if !here.path("secret").exists() {
            here.file("secret", SECRET);
        }
        Self::listen(here, "127.0.0.1:0")
    }

    /// The same at this address.
    pub fn listen(here: &Scratch, address: &str) -> Self {
        let line = format!("witness --listen {address} --secret-file secret --directory kept");
        let mut running = Running::start(here, &line);
        let said = running.wait_until_it_says("Listening at");
        let rest = said.split("Listening at ").nth(1).expect("an address");
        let address = rest.split(';').next().expect("an address").to_owned();
        Self {
            _running: running,
            address,
        }
    }

    /// What a run needs to report to it.
    pub fn options(&self) -> String {
        format!("--witness {} --secret-file secret", self.address)
    }
}

/// The records that the witness has of all runs.
fn kept(here: &Scratch) -> u64 {
    let files = fs::read_dir(here.path("kept")).expect("the records");
    files
        .map(|file| file.expect("a file").metadata().expect("its size").len())
        .sum()
}

/// Starts a run and kills it when the witness has so many bytes of records.
pub fn killed_run(here: &Scratch, line: &str, bytes: u64) {
    let before = kept(here);
    let mut running = Running::start(here, line);
    let end = Instant::now() + Duration::from_secs(300);
    while kept(here) < before + bytes {
        assert!(Instant::now() < end, "nothing is acknowledged");
        assert!(running.is_alive(), "{}", running.end().stderr);
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal("KILL");
    drop(running.end());
}

/// The audit of a run.
pub fn audit(here: &Scratch, witness: &Witness, run: &str) -> Ended {
    here.proofload(&format!("audit {run} {}", witness.options()))
}
