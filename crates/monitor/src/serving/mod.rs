//! A modelled array while it is served: its state in a terminal and as metrics.
//!
//! - [`screen`] puts a state into lines.
//! - [`metrics`] puts it into the text format of Prometheus.
//! - [`ServingMonitors`] does both while the array of this process is served.

pub mod metrics;
pub mod screen;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use proofload::Error;
use proofload::serve::StateSource;

use self::screen::Whose;
use crate::metrics::server::{Server, listen};
use crate::view::{Lines, LiveView};

/// How often the metrics change.
const METRICS_INTERVAL: Duration = Duration::from_secs(1);
/// How often a thread asks whether it is to end.
const POLL: Duration = Duration::from_millis(50);

/// What is wanted of an array while it is served.
#[derive(Clone, Debug, Default)]
pub struct ServingWanted {
    /// Where the figures are served.
    pub metrics: Option<String>,
    /// A view over the whole terminal.
    pub live: bool,
}

impl ServingWanted {
    /// Checks that everything that is wanted can be had.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(address) = &self.metrics {
            listen(address)?;
        }
        match self.live {
            true => LiveView::check(),
            false => Ok(()),
        }
    }
}

/// Everything that was asked for, opened. Dropped, it ends: the terminal is as it was before.
pub struct ServingMonitors {
    view: Option<LiveView>,
    metrics: Option<ServedMetrics>,
}

impl ServingMonitors {
    /// Opens what was asked for, of the array whose state `source` finds out.
    ///
    /// # Errors
    /// A port or a terminal that cannot be had.
    pub fn open(wanted: &ServingWanted, source: &StateSource) -> Result<Self, Error> {
        let metrics = wanted.metrics.as_deref();
        let metrics = metrics.map(|address| ServedMetrics::start(address, source.clone()));
        Ok(Self {
            metrics: metrics.transpose()?,
            view: match wanted.live {
                true => Some(start_view(source.clone())?),
                false => None,
            },
        })
    }

    /// Where the figures are served, if they are.
    #[must_use]
    pub fn metrics_url(&self) -> Option<String> {
        self.metrics.as_ref().map(|metrics| metrics.url.clone())
    }

    /// Where lines go that are to be shown when the view is left, if there is one.
    #[must_use]
    pub fn lines(&self) -> Option<Lines> {
        self.view.as_ref().map(LiveView::lines)
    }
}

fn start_view(source: StateSource) -> Result<LiveView, Error> {
    let mut states = VecDeque::new();
    LiveView::start(move |size| {
        if let Some(state) = source.state() {
            screen::keep(&mut states, state);
        }
        let lines = |state| screen::lines(state, states.front(), size, Whose::Own);
        states.back().map(lines).unwrap_or_default()
    })
}

/// The figures, brought up to date until it is dropped.
struct ServedMetrics {
    url: String,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ServedMetrics {
    fn start(address: &str, source: StateSource) -> Result<Self, Error> {
        let server = Server::open(address)?;
        let url = server.url();
        let ended = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ended);
        let thread = thread::Builder::new().name("metrics state".to_owned());
        let thread = thread.spawn(move || {
            while let Some(state) = source.state() {
                server.put(metrics::text(&state));
                let put = Instant::now();
                while put.elapsed() < METRICS_INTERVAL {
                    if until.load(Ordering::Relaxed) {
                        return;
                    }
                    thread::sleep(POLL);
                }
            }
        });
        let thread = thread.map_err(|error| {
            Error::environment(format!("Metrics cannot be served: {error}."), "")
        })?;
        Ok(Self {
            url,
            ended,
            thread: Some(thread),
        })
    }
}

impl Drop for ServedMetrics {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that has failed serves nothing any more.
            let _ = thread.join();
        }
    }
}
