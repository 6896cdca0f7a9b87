//! Fuzz targets: everything that reads files which others may have written or damaged, or what others send.
//!
//! A target is a function of bytes that must return: no panic, no endless loop, bounded memory. The
//! same functions are called by cargo-fuzz (directory `fuzz` of the repository, which needs a nightly
//! toolchain) and by the tests of this crate, which change the files of the corpus by chance from a
//! fixed seed.
//!
//! - [`database`]: pages, whole database files with their catalog, log files and log records.
//! - [`texts`]: profiles, configurations of Jetstress, arrays, traces and results.
//! - [`nbd_client`]: what clients send to a server of NBD.
//! - [`witness_messages`]: what peers send to a witness, or a witness sends.

pub mod database;
pub mod nbd_client;
pub mod texts;
pub mod witness_messages;

/// A function that reads bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of the directory of its corpus below `fuzz/corpus`.
    pub name: &'static str,
    /// Passes the bytes to a reader, which may refuse them and must not panic.
    pub run: fn(&[u8]),
}

/// Every target, as `fuzz/fuzz_targets` and the test of the corpus have them.
pub const TARGETS: [Target; 11] = [
    Target {
        name: "page",
        run: database::page,
    },
    Target {
        name: "database",
        run: database::database,
    },
    Target {
        name: "log",
        run: database::log,
    },
    Target {
        name: "log_record",
        run: database::log_record,
    },
    Target {
        name: "profile",
        run: texts::profile,
    },
    Target {
        name: "jetstress",
        run: texts::jetstress,
    },
    Target {
        name: "array",
        run: texts::array,
    },
    Target {
        name: "trace",
        run: texts::trace,
    },
    Target {
        name: "result",
        run: texts::result,
    },
    Target {
        name: "witness",
        run: witness_messages::witness,
    },
    Target {
        name: "nbd",
        run: nbd_client::nbd,
    },
];
