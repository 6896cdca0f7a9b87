//! A run of the house on its database: stages, users, market, counts and verdict.
//!
//! - [`line`] is the line to the conductor, the same that conducts mail runs.
//! - [`volume`] counts the requests that reach the storage, and what they are for.
//! - [`watch`] asks the server what it is doing, and says what held the load back.
//! - [`outage`] keeps the times in which the server did not serve.

pub mod line;
pub mod outage;
pub mod volume;
pub mod watch;
