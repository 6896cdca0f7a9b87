//! Metrics, histograms, samples, service levels, the verdict and the run directory.
//!
//! The modules, in the order of the data:
//!
//! - [`metric`] is the registry: identifier, unit, label and merge rule of everything measured.
//! - [`sample`]: every thread counts requests and operations into a [`sample::Recorder`]; the
//!   [`sample::Collector`] joins them into samples and totals.
//! - [`histogram`] counts latencies, and writes `histograms.hlog`.
//! - [`host`] reads the counters of the machine.
//! - [`confidence`] says how far an average can be trusted, [`precision`] the same while it is measured, [`steady`] whether the run was steady.
//! - [`service_level`] holds the limits, judges the totals, and gives the verdict.
//! - [`attribution`] asks whether it was the storage that decided, and not the host or a cache;
//!   [`headline`] gives the answer as one sentence.
//! - [`run_directory`] writes and reads the files that a run leaves behind.
//! - [`recompute`] recomputes figures and verdict from those files, and finds what was changed in them.
//! - [`ranks`] makes one result of those of several hosts.
//! - [`display`] writes figures for people, and holds what a workload adds to reports.
//! - [`result`] is `result.json`: what a run leaves behind, as one versioned document; [`grid`] is
//!   that of many predictions side by side.

pub mod attribution;
pub mod confidence;
pub mod display;
pub mod grid;
pub mod headline;
pub mod histogram;
pub mod host;
pub mod metric;
pub mod precision;
pub mod ranks;
pub mod recompute;
pub mod result;
pub mod run_directory;
pub mod sample;
pub mod service_level;
pub mod steady;
pub mod units;
