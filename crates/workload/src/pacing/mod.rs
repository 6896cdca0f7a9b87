//! When work begins: as soon as a session is free (closed loop), or by the clock (open loop).
//!
//! In the open loop [`arrivals`] says when transactions are due and [`rate`] how many per second
//! it takes to hold a rate of I/O; [`backlog`] hands them to sessions and counts
//! those that had to wait or could not be taken on at all.

pub mod arrivals;
pub mod backlog;
pub mod rate;
pub mod turns;
