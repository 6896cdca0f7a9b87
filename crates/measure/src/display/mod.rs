//! How results are shown: [`number`] writes figures with their units, [`Table`] holds them, [`Tone`]
//! says pass or fail. A [`Contribution`] is what a workload adds to the reports of its runs.

mod contribution;
mod interruption;
mod locale;
pub mod number;
mod samples;
mod table;
pub mod tone;
mod tuning;

pub use contribution::{
    Advice, AdviceId, Better, Contribution, LoadWords, Medium, Part, ResultMetric, Section, Tile,
};
pub use interruption::interruption;
pub use locale::is_unicode_locale;
pub use samples::samples;
pub use table::{Cell, Column, Table};
pub use tone::Tone;
pub use tuning::tuning_outcome;
