//! A run of the house on its database: stages, users, market, counts and verdict.
//!
//! - [`line`] is the line to the conductor, the same that conducts mail runs; [`stages`] is the
//!   house that follows its orders, and [`drive`] sets both going.
//! - [`loading`] builds the house.
//! - [`floor`] is what everybody shares; [`user`] and [`hands`] are the people on it: users, and
//!   the market's hands. [`arrivals`] says when users begin at a held rate, [`crew`] on which
//!   threads they work.
//! - [`attempt`] tries a transaction until it is done; [`recovery`] finds what became of one whose
//!   answer was lost; [`tally`] and [`outage`] keep what did not go well.
//! - [`volume`] counts the requests that reach the storage, and what they are for.
//! - [`watch`] asks the server what it is doing, and says what held the load back.

pub mod arrivals;
pub mod attempt;
pub mod crew;
pub mod drive;
mod durable;
pub mod floor;
pub mod hands;
pub mod line;
pub mod loading;
pub mod outage;
pub mod recovery;
pub mod stages;
pub mod tally;
pub mod user;
pub mod volume;
pub mod watch;
