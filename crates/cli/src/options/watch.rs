//! What other programs and terminals see of a run while it lasts.

use std::path::{Path, PathBuf};

use clap::Args;
use monitor::Wanted;
use proofload::Error;

/// The events, for runs and predictions.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "While it runs")]
pub struct EventOptions {
    /// Write what happens to this new file as it happens, as one JSON object a line; '-' is standard
    /// output, which then gets nothing else.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

/// All of it, for runs on real storage.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "While it runs")]
pub struct WatchOptions {
    #[command(flatten)]
    pub events: EventOptions,
    /// Serve the figures to Prometheus at http://ADDRESS/metrics while the run lasts. A port alone is
    /// for this host only.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Show the run over the whole terminal. 'q' leaves the view and the run goes on; 'proofload attach'
    /// opens it again.
    #[arg(long, conflicts_with = "quiet")]
    pub live: bool,
}

impl EventOptions {
    /// Whether the events go to standard output.
    pub fn to_output(&self) -> bool {
        self.events.as_deref() == Some(Path::new(monitor::stream::OUTPUT))
    }

    /// What is wanted.
    ///
    /// # Errors
    /// Events and the result were both to go to standard output.
    pub fn wanted(&self, json: bool) -> Result<Wanted, Error> {
        if json && self.to_output() {
            return Err(Error::usage(
                "Both --events and --json were to go to standard output.",
                "Give --events the name of a file.",
            ));
        }
        Ok(Wanted {
            events: self.events.clone(),
            ..Wanted::default()
        })
    }
}

impl WatchOptions {
    /// What is wanted.
    ///
    /// # Errors
    /// As of the events.
    pub fn wanted(&self, json: bool) -> Result<Wanted, Error> {
        Ok(Wanted {
            metrics: self.metrics.clone(),
            live: self.live,
            keeps_status: true,
            ..self.events.wanted(json)?
        })
    }
}
