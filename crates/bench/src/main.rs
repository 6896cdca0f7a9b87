//! Measures Proofload beside fio: the two in turn, on the same file system, in one run, and prints
//! the ratios as a Markdown table; then how fast the array model runs. `make bench` calls it.

mod cases;
mod fio;
mod product;
mod ratio;

use cases::Bench;
use clap::Parser;
use product::{Product, remove_directory};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures Proofload beside fio and prints the ratios; measures the array model.
#[derive(Parser)]
struct Arguments {
    /// The binary under test.
    #[arg(long, default_value = "target/release/proofload")]
    proofload: PathBuf,
    /// A directory on the storage to measure on; its contents are made and removed here.
    #[arg(long, default_value = "bench-results")]
    directory: PathBuf,
    /// How often each side runs; the median counts.
    #[arg(long, default_value_t = 4)]
    rounds: usize,
    /// Measured seconds of each run.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Size of the database in GiB.
    #[arg(long, default_value_t = 4)]
    size_gib: u64,
    /// Only these cases: build, read-only, mixed, drivers, outputs, checks, checksum, array, mail-hour,
    /// mail-day, serve. The last two run only when they are named: 24 hours are predicted, and arrays are served,
    /// for which this needs FUSE and nbdkit.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// An earlier build of proofload: runs in turn with the one under test, and nothing else.
    #[arg(long, conflicts_with = "only")]
    earlier: Option<PathBuf>,
}

fn main() -> ExitCode {
    match measure_all(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(arguments: &Arguments) -> Result<(), String> {
    let make = |path: PathBuf| {
        std::fs::create_dir_all(&path)
            .map(|()| path.clone())
            .map_err(|error| format!("cannot make {}: {error}", path.display()))
    };
    let mut bench = Bench {
        product: Product {
            binary: arguments.proofload.clone(),
            storage: make(arguments.directory.join("storage"))?,
            runs: make(arguments.directory.join("runs"))?,
        },
        scratch: make(arguments.directory.join("fio"))?,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
        size_gib: arguments.size_gib,
        databases: 1,
    };
    if let Some(earlier) = &arguments.earlier {
        let rows = cases::earlier::rows(&bench, earlier)?;
        println!("{}\n{}", ratio::EARLIER_HEAD, rows.join("\n"));
        return remove_directory(&bench.product.storage);
    }
    let wanted =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let mut rows = Vec::new();
    if wanted("checksum") {
        rows.extend(cases::checksum::rows(arguments.rounds)?);
    }
    if wanted("build") {
        rows.extend(cases::build::rows(&bench)?);
    } else if ["read-only", "mixed", "drivers", "outputs", "checks"]
        .into_iter()
        .any(wanted)
    {
        bench.build_afresh("prepare", &[])?;
    }
    if wanted("read-only") {
        rows.extend(cases::read_only::rows(&bench)?);
    }
    if wanted("drivers") {
        rows.extend(cases::drivers::rows(&bench)?);
    }
    if wanted("outputs") {
        rows.extend(cases::outputs::rows(&bench)?);
    }
    if wanted("checks") {
        rows.extend(cases::checks::rows(&bench)?);
    }
    if wanted("mixed") {
        rows.extend(cases::mixed::rows(&bench)?);
        // Each database has a thread of its own.
        bench.databases = 2;
        bench.build_afresh("prepare-two", &[])?;
        rows.extend(cases::mixed::rows(&bench)?);
    }
    let mut model_rows = Vec::new();
    if wanted("array") {
        model_rows.extend(cases::array::closed_loops()?);
    }
    if wanted("mail-hour") {
        model_rows.push(cases::array::prediction(&bench.product, 1)?);
    }
    if arguments.only.iter().any(|only| only == "mail-day") {
        model_rows.push(cases::array::prediction(&bench.product, 24)?);
    }
    let (mut served_times, mut served_rates) = (Vec::new(), Vec::new());
    if arguments.only.iter().any(|only| only == "serve") {
        served_rates = cases::serve::rates_rows(&bench)?;
        served_times = cases::serve::times_rows(&bench)?;
    }
    for (head, rows) in [
        (ratio::TABLE_HEAD, rows),
        (cases::array::TABLE_HEAD, model_rows),
        (cases::serve::RATES_HEAD, served_rates),
        (cases::serve::TIMES_HEAD, served_times),
    ] {
        if !rows.is_empty() {
            println!("{head}\n{}\n", rows.join("\n"));
        }
    }
    remove_directory(&bench.product.storage)?;
    remove_directory(&bench.scratch)
}
