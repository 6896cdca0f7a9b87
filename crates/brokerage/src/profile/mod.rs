//! The profile of the brokerage workload: how large its database is, what its users do, the market
//! they trade on, the server that does the work, and the limits of the verdict.

mod data_set;
mod database;
mod limits;
mod load;
mod measured_io;
mod rules;

pub use data_set::{Brokerage, CheckedRows};
pub use database::{Database, Server};
pub use limits::Limits;
pub use load::{Market, Mix, Orders};
pub use measured_io::MeasuredIo;

use config::{ConfigError, Layers, settings};
use workload::Bundled;
use workload::profile::{Levels, Run, read};

/// The kind of workload, as profiles name it.
pub(crate) const KIND: &str = "brokerage";

const STUDY: &str = "The published evaluation of the MSA 2042 (2016).";
const DESCRIBED: &str = "Open implementations of the workload agree on it.";

settings! {
    /// What kind of workload this is.
    pub struct BrokerageProfile {
        /// The kind of workload. Every profile file must say it.
        pub kind: String = KIND.to_owned(), source "Project default.";
        /// One line for lists and reports.
        pub description: String = String::new(), source "Project default.";
        /// How large the brokerage is, and how many users work at once.
        pub brokerage: Brokerage = Brokerage::default();
        /// The limits that decide the verdict.
        pub service_levels: Levels = default_levels();
        /// How long a run lasts and what it samples.
        pub run: Run = default_run();
    }
}

/// A rate of transactions is held by the clock, not by a count of I/O: only the randomness of its
/// arrivals has to be allowed for.
fn default_levels() -> Levels {
    Levels {
        achieved_margin_fraction: 0.02,
        ..Levels::default()
    }
}

/// A server verifies its own pages.
fn default_run() -> Run {
    Run {
        verify_after_run: false,
        ..Run::default()
    }
}

pub(crate) const BUNDLED: &[Bundled] = &[Bundled {
    name: "brokerage",
    toml: include_str!("../../../../profiles/workloads/brokerage.toml"),
}];

impl BrokerageProfile {
    /// Reads a profile; `kinds` are all kinds of workload, for messages.
    ///
    /// # Errors
    /// Everything that is wrong, each fault with its place.
    pub fn read(layers: Layers, kinds: &[&str]) -> Result<Self, ConfigError> {
        read(layers, kinds, &Self::default(), rules::broken)
    }
}
