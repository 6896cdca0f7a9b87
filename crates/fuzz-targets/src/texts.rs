//! Targets that read texts: profiles, configurations of Jetstress, arrays, traces and results.

use array::description::Description;
use config::Source;
use measure::run_directory::{load, load_histograms};
use proofload::WORKLOADS;
use std::cell::OnceCell;
use std::fs;
use tempfile::TempDir;
use trace::{TraceFormat, TraceReader, TraceSettings, recognise};

/// Reads a profile of any workload.
pub fn profile(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = WORKLOADS
            .read(&[Source::file("profile.toml", text)])
            .map_err(|error| error.to_string());
    }
}

/// Makes a profile of a configuration of Jetstress. One that is made is accepted as a profile.
pub fn jetstress(bytes: &[u8]) {
    let imported = proofload::jetstress::import("JetstressConfig.xml", bytes);
    if let Ok(imported) = imported {
        let read = WORKLOADS.read(&[Source::file("profile.toml", &imported.profile)]);
        assert!(read.is_ok(), "{}", imported.profile);
    }
}

/// Reads the description of an array.
pub fn array(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let read = Description::load(&[Source::file("array.toml", text)]);
        let _ = read.map_err(|error| error.to_string());
    }
}

/// Reads a trace in every format.
pub fn trace(bytes: &[u8]) {
    let _ = std::str::from_utf8(bytes).ok().and_then(recognise);
    let settings = TraceSettings::default();
    for format in [
        TraceFormat::Csv,
        TraceFormat::FioIolog,
        TraceFormat::FioLog,
        TraceFormat::Blkparse,
    ] {
        let mut reader = TraceReader::new(bytes, "trace", format, &settings);
        while let Ok(Some(_)) = reader.next_request() {}
    }
}

thread_local! {
    static DIRECTORY: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Reads the result of a run. The bytes stand for each of its files in turn.
pub fn result(bytes: &[u8]) {
    DIRECTORY.with(|directory| {
        let made = || tempfile::tempdir().unwrap_or_else(|error| panic!("no directory: {error}"));
        let directory = directory.get_or_init(made).path();
        for file in ["result.json", "histograms.hlog"] {
            let written = fs::write(directory.join(file), bytes);
            written.unwrap_or_else(|error| panic!("{file} cannot be written: {error}"));
        }
        let _ = load(directory).map_err(|error| error.to_string());
        let _ = load_histograms(directory).map_err(|error| error.to_string());
    });
}
