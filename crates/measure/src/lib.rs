//! Histograms, samples, service levels, the verdict and the run directory.
//!
//! A short tour, in the way of the data:
//!
//! - [`sample`]: every thread counts requests and operations into a [`sample::Recorder`]; the
//!   [`sample::Collector`] joins them into samples and totals.
//! - [`histogram`] counts latencies, and writes `histograms.hlog`.
//! - [`host`] reads the counters of the machine.
//! - [`confidence`] says how far an average can be trusted.
//! - [`result`] is `result.json`: what a run leaves behind, as one versioned document.

pub mod confidence;
pub mod histogram;
pub mod host;
pub mod result;
pub mod sample;
