//! Brokerages on servers of their own, and what becomes of the servers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Scratch;

/// A little more than the smallest data set takes on this database.
pub fn smallest(database: &str) -> &'static str {
    match database {
        "sqlite" => "60MB",
        _ => "180MB",
    }
}

/// A brokerage of the smallest size, on this database, whose prices move fast enough for a short run.
pub fn brokerage(database: &str) -> String {
    let size = smallest(database);
    format!(
        "run brokerage --on target --out out --database {database} --users 4 --target-size {size} \
         --duration 10m --set run.sample_interval=250ms --set run.warm_up.minimum=1s \
         --set run.warm_up.maximum=2s --set brokerage.think_time=1ms \
         --set brokerage.market.price_period=2s --keep"
    )
}

/// Whether there is a PostgreSQL for a server of its own.
pub fn has_postgresql() -> bool {
    let found = Command::new("sh")
        .args(["-c", "ls -d /usr/lib/postgresql/*/bin"])
        .output();
    found.is_ok_and(|found| found.status.success())
}

/// The process id of the server on the target; `None` where the database has no server.
pub fn server(here: &Scratch) -> Option<u32> {
    let file = here.path("target/brokerage/cluster/data/postmaster.pid");
    let text = fs::read_to_string(file).ok()?;
    text.lines().next()?.trim().parse().ok()
}

/// Ends the database server that a killed run has left, at once, as a power cut would have.
pub fn end_server(here: &Scratch) {
    let Some(id) = server(here) else {
        return;
    };
    let sent = Command::new("kill")
        .args(["-QUIT", &id.to_string()])
        .status();
    assert!(sent.expect("kill").success());
    while Path::new(&format!("/proc/{id}")).exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
}
