//! Models of real storage, made from what it does.
//!
//! - A [`Probe`] is a short load; [`Figures`] are what its requests amounted to. A [`Measured`] is a probe
//!   with the figures of real storage: [`fio`] reads them from fio's results.
//! - [`plan`] says which probes show what a disk is like. [`Requests`] are what a job of a probe asks for, and
//!   [`Responses`] what comes of it, for whoever runs it on real storage; nothing here touches any.
//! - [`model::run`] puts a probe on a modelled array.
//! - [`parameters`] are the numbers of a model that may be fitted, with their bounds.
//! - A [`Calibrator`] looks for the parameter sets that explain what was measured ([`misfit`], [`search`]), and
//!   judges them by probes that took no part: a [`Calibration`].

#![forbid(unsafe_code)]

mod calibration;
mod figures;
pub mod fio;
pub mod misfit;
pub mod model;
pub mod parameters;
pub mod plan;
mod probe;
mod requests;
mod responses;
pub mod saved;
pub mod search;

pub use calibration::{Calibration, CalibrationError, Calibrator, Fitted, Judged, Part, Progress};
pub use figures::{Figures, QUANTILES};
pub use probe::{Access, Job, Measured, Probe};
pub use requests::Requests;
pub use responses::Responses;
