//! What all workloads share: what a run shall do, and the sequence of a run.
//!
//! A [`Workload`] is what a crate of its own implements. [`profile`] says what a run shall do, [`progress`] how it reports what it is doing.
//! [`SetupQuestion`]s are asked of people who make a profile. [`pacing`] decides when transactions begin, [`tuning`] how many sessions there are. [`controller`] takes a
//! run from the first built page to its result, and [`failure`] is what ends it early. Everything
//! random comes from [`random`] and a seed: [`deck`] keeps shares exact, [`permutation`] puts whole
//! numbers in an order that needs no memory.

pub mod controller;
pub mod deck;
pub mod failure;
mod interface;
pub mod pacing;
pub mod permutation;
pub mod profile;
pub mod progress;
pub mod random;
mod refusal;
mod setup;
pub mod tuning;
pub use interface::{
    Bundled, DatabaseNeeds, LoadAxis, LoadOption, LoadOptions, Profile, SimulatedFiles,
    SimulatedPlace, Simulation, SimulationFuture, StorageNeeds, VolumeDemand, Workload,
};
pub use refusal::{ErrorClass, Refusal};
pub use setup::{SetupAnswers, SetupDefault, SetupKind, SetupQuestion, SetupSetting};
