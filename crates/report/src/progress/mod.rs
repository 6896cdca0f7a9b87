//! Progress of runs and predictions in words, for whoever shows or logs it.
//!
//! - [`LinesView`] is an observer that writes lines for logs and pipes, to any writer.
//! - [`StatusSource`] makes one line of events, to be drawn over and over: [`SeedsStatus`] of crash tests,
//!   [`PointsStatus`] of sweeps, [`CasesStatus`] of studies.
//! - [`figures`] has the words that all of them share, and [`bars`] bars as text; [`Pace`] is the time left
//!   by the progress of late, [`Speed`] compares simulated with real time.

pub mod bars;
mod cases;
pub mod figures;
mod lines;
mod pace;
mod points;
mod seeds;
mod speed;
mod status;

pub use cases::CasesStatus;
pub use lines::LinesView;
pub use pace::Pace;
pub use points::PointsStatus;
pub use seeds::SeedsStatus;
pub use speed::Speed;
pub use status::{Due, Status, StatusSource};
