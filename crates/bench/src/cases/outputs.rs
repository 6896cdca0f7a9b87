//! What the outputs of a run cost: the same load in turn with and without them, while a reader fetches the
//! metrics each second. The state in the run directory is always kept; the view needs a terminal.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use measure::result::RunResult;

use super::Bench;
use crate::ratio::{Goal, Pairs};

/// The row of the table: everything on beside everything off.
///
/// # Errors
/// A sentence when a run does not end well, or nothing could be read of its metrics.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let name = "default mix with events and metrics, beside the same without, device I/O";
    let mut rates = Pairs::new(name, "IOPS", Goal::AtLeast(0.97));
    for round in 0..bench.rounds {
        // Each goes first in half of the rounds.
        let pair = if round % 2 == 0 {
            let on = with_outputs(bench)?;
            (on, without(bench)?)
        } else {
            let off = without(bench)?;
            (with_outputs(bench)?, off)
        };
        eprintln!("outputs: {:.0} with and {:.0} without", pair.0, pair.1);
        rates.add(pair.0, pair.1);
    }
    Ok(vec![rates.row()])
}

fn without(bench: &Bench) -> Result<f64, String> {
    let result = bench
        .product
        .run("outputs-off", &bench.load_arguments(&[]))?;
    Ok(rate(&result))
}

fn with_outputs(bench: &Bench) -> Result<f64, String> {
    let events = bench.product.runs.join("events.ndjson");
    let _ = std::fs::remove_file(&events);
    let port = free_port()?;
    let mut arguments = bench.load_arguments(&[]);
    let options = [
        "--events".to_owned(),
        events.display().to_string(),
        "--metrics".to_owned(),
        port.to_string(),
    ];
    arguments.extend(options);
    let ended = AtomicBool::new(false);
    let (result, read) = thread::scope(|scope| {
        let reader = scope.spawn(|| fetch_each_second(port, &ended));
        let result = bench.product.run("outputs-on", &arguments);
        ended.store(true, Ordering::Relaxed);
        (result, reader.join().unwrap_or(0))
    });
    if read == 0 {
        return Err("nothing could be read of the metrics".to_owned());
    }
    Ok(rate(&result?))
}

fn rate(result: &RunResult) -> f64 {
    result.totals.all_per_second()
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0");
    let address = listener.and_then(|listener| listener.local_addr());
    let address = address.map_err(|error| format!("no port is free: {error}"))?;
    Ok(address.port())
}

/// Reads the metrics once a second; how many times there were any.
fn fetch_each_second(port: u16, ended: &AtomicBool) -> u64 {
    let mut read = 0;
    while !ended.load(Ordering::Relaxed) {
        read += u64::from(fetch(port).is_some_and(|text| text.contains("proofload_")));
        thread::sleep(Duration::from_secs(1));
    }
    read
}

fn fetch(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}
