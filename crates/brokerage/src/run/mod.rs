//! A measured run: stages, clients, counts and consistency checks.
//!
//! - [`start`] runs a plan; [`shard_link`] connects it with the run coordinator that mail runs
//!   have, too; [`stages`] implements the stages.
//! - [`loading`] builds the database.
//! - [`context`] is shared by all clients: [`user`] and [`market_workers`]. [`arrivals`] has the
//!   due times at a target rate, [`client_threads`] assigns clients to threads.
//! - [`retry`] retries a transaction until it is done; [`recovery`] finds the outcome of a commit
//!   that was not answered; [`error_counts`] and [`outage`] count failures;
//!   `server_process` says of some outages whether the server had crashed.
//! - `final_checks` checks the database before and after the load, again if the server goes down
//!   meanwhile (`lost_server`); `progress_note` says how far that is.
//! - [`volume`] measures the I/O requests of the volume, by purpose; [`owners`](crate::database::owners)
//!   finds those of other processes, and `process_io` estimates them without the trace.
//! - [`placement`]: whether the server's files lie on that volume.
//! - [`monitor`] samples the server's wait events and counters, and names the bottleneck.

pub mod arrivals;
pub mod client_threads;
pub mod context;
mod durability;
pub mod error_counts;
mod final_checks;
pub mod full_volume;
pub mod loading;
mod lost_server;
pub mod market_workers;
pub mod monitor;
pub mod outage;
mod parameters;
pub mod placement;
mod process_io;
mod progress_note;
pub mod recovery;
pub mod retry;
mod server_cpu;
mod server_process;
pub mod shard_link;
pub mod stages;
pub mod start;
pub mod user;
pub mod volume;
