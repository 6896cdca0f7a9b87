//! Who and what there is in the house: everything about it that follows from its size and its seed
//! alone, so that neither users nor the generator of rows have to ask the database.
//!
//! - [`identity`]: [`House`] itself, its size, its customers.
//! - [`accounts`]: accounts, brokers, who else may trade on an account, which securities it deals in.
//! - [`securities`]: companies, their securities, industries and exchanges.
//! - [`moments`]: the calendar of the books: trading days, the opening, days of prices.
//! - [`rates`]: what a trade costs, and taxes.
//! - [`words`] and [`names`]: people, companies and places, all of them invented.
//! - [`skew`]: who and what is chosen how often.
//! - [`size`]: rows of every table.
//! - `footprint`: their bytes in each database.

pub mod accounts;
mod footprint;
pub mod identity;
pub mod moments;
pub mod names;
pub mod rates;
pub mod securities;
pub mod size;
pub mod skew;
pub mod words;

pub use accounts::Permitted;
pub use identity::{House, LOAD_UNIT, MOST_CUSTOMERS};
pub use names::Symbol;
