//! The library in a WebAssembly module: predictions, a sweep and a replay, without files, threads or
//! a clock. `scripts/wasm` builds it, and `tests/wasm.rs` compares its figures with those of the
//! machine.
//!
//! A caller, such as a web page, calls `compute`, which gives the length of a text, and finds the
//! text in the module's memory at `address`.

use std::sync::OnceLock;

use measure::result::{HostResult, RunResult};
use proofload::{Axis, Error, Scenario};

/// Reads of 8 KiB all over a gigabyte, a millisecond apart.
const READS: u64 = 2_000;

static TEXT: OnceLock<String> = OnceLock::new();

/// Computes everything; the length of the text in bytes.
#[allow(unsafe_code)] // The name is the program's own; nothing else can have it.
#[unsafe(no_mangle)]
pub extern "C" fn compute() -> usize {
    TEXT.get_or_init(figures).len()
}

/// Where the text begins in memory.
#[allow(unsafe_code)] // As above.
#[unsafe(no_mangle)]
pub extern "C" fn address() -> *const u8 {
    TEXT.get_or_init(figures).as_ptr()
}

/// Every figure of every result as JSON, or what was wrong.
pub fn figures() -> String {
    all().unwrap_or_else(|error| error.to_string())
}

fn all() -> Result<String, Error> {
    let mail = "kind = \"mail\"\nextends = \"exchange-2013\"\n";
    let mail = short(Scenario::new("mine.toml"))
        .with_file("mine.toml", mail)
        .on_array("msa2050-tier")
        .with("mail.databases", 2)
        .with("mail.mailbox_size", "8MiB");
    let brokerage = short(Scenario::new("brokerage"))
        .on_array("msa2050")
        .with("brokerage.data_size", "2GB")
        .with("brokerage.users", 4);
    let replay = Scenario::new("reads.csv")
        .with_file("reads.csv", reads())
        .on_array("msa2050");
    let mut text = String::new();
    for outcome in [mail.predict()?, brokerage.predict()?, replay.replay()?] {
        text.push_str(&json(outcome.result));
    }
    let sweep = mail.sweep(&[Axis::new("mail.threads", [2, 8])])?;
    for mut point in sweep.grid.points {
        point.wall_seconds = None;
        text.push_str(&format!("{point:?}\n"));
    }
    Ok(text)
}

/// A run of ten seconds.
fn short(scenario: Scenario) -> Scenario {
    scenario
        .with("run.warm_up.minimum", "5s")
        .with("run.warm_up.maximum", "5s")
        .with("run.duration", "10s")
        .with("run.sample_interval", "1s")
}

fn reads() -> String {
    let mut trace = "time_s,operation,offset_bytes,size_bytes\n".to_owned();
    for number in 0..READS {
        let offset = number * 7_919 % 131_072 * 8_192;
        trace.push_str(&format!("{},read,{offset},8192\n", number as f64 / 1e3));
    }
    trace
}

/// A result without what says when and where it was computed.
fn json(mut result: RunResult) -> String {
    result.started.clear();
    let phases = result.phases.iter_mut();
    phases.for_each(|phase| phase.started.clear());
    result.wall_seconds = None;
    result.host = HostResult::default();
    serde_json::to_string_pretty(&result).unwrap_or_default()
}
