//! Histograms, samples, service levels, the verdict and the run directory.
//!
//! A short tour:
//!
//! - [`result`] is `result.json`: what a run leaves behind, as one versioned document.

pub mod result;
