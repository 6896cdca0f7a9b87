//! The predictor in a web page: requests and answers as JSON text, for a page that asks a worker with this crate as a
//! WebAssembly module. The page itself is in `web`; `scripts/page` makes one file of both.
//!
//! - [`answer`] answers one request. It never panics on what a person types, opens or drops: what is wrong comes back
//!   as a [`Fault`].
//! - [`Design`] is the state of the page: a profile that names its array, which `proofload predict` runs as well, and to
//!   the same bits.
//! - [`described`](mod@described) is what a design comes to: its settings as fields of a form, with what may be written
//!   for each and what it means, from their declarations.
//! - [`prediction`] is what a prediction gives: verdict, figures, tables and charts of the report, and how busy each
//!   part of the array is. [`parts`] are those.
//! - [`search`] and sweeps are grids of predictions; [`comparison`] has several designs side by side.
//! - `interface` is what the module exports, and what it imports.
//!
//! Nothing here knows a product, and nothing a setting beyond the names and places of the main ones ([`fields`]).

pub mod comparison;
pub mod described;
mod design;
mod fault;
pub mod fields;
mod interface;
pub mod lists;
pub mod parts;
pub mod prediction;
mod progress;
mod request;
pub mod search;
mod tables;

pub use design::Design;
pub use fault::{DESIGN_FILE, Fault};
pub use progress::{Progress, Report};
pub use request::answer;
