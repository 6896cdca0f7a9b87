//! A run of the house on its database: stages, users, market, counts and verdict.
//!
//! - [`line`] is the line to the conductor, the same that conducts mail runs.
//! - [`volume`] counts the requests that reach the storage, and what they are for.
//! - [`outage`] keeps the times in which the server did not serve.

pub mod line;
pub mod outage;
pub mod volume;
