//! A brokerage house on a database: what its users and its market do, page by page.
//!
//! - [`scale`] is how large a house is: customers and days for a size.
//! - [`schema`] lists tables and indexes: rows by customers, bytes per row, order.
//! - [`tree`] is one of them as a B+ tree: which pages a row lies under, and how it grows.
//! - [`books`] is all trees of one house in one row of pages.
//! - [`skew`] chooses customers, trades and days as the published description does.
//! - [`kinds`] names the transactions; [`plan`] is one transaction as look-ups and changes of rows,
//!   which [`inquiries`], [`lookups`] and [`orders`] draw up before it begins.
//! - [`market`] is the exchange: when orders are answered, and what the ticker says.
//! - [`twin`] carries plans out on pages without contents, over modelled storage.

pub mod books;
pub mod inquiries;
pub mod kinds;
pub mod lookups;
pub mod market;
pub mod orders;
pub mod plan;
pub mod scale;
pub mod schema;
pub mod skew;
pub mod tree;
pub mod twin;
