//! The bytes on disk: no input or output happens here, and nothing waits.
//!
//! - [`page`]: every byte of a database but its two headers lies in pages; [`checksum`] seals them.
//! - [`database_header`]: the two headers. [`layout`]: which page is where, and what the first
//!   pages are for.
//! - [`schema`]: tables as a person defines them. [`record`] turns a row into bytes, [`key`] a key.
//! - [`catalog`]: the rows that describe all tables, the catalog itself included.
//! - [`general`]: catalogs and records of other programs, with what this engine does not write.
//! - [`space`] and [`long_value`]: the nodes of extent trees and long value trees.
//!
//! All integers are little-endian, except in keys, which are big-endian so that their bytes sort
//! like their values.

pub mod catalog;
pub mod checksum;
pub mod database_header;
pub mod general;
mod header_values;
pub mod key;
pub mod layout;
pub mod long_value;
pub mod page;
pub mod record;
pub(crate) mod record_view;
pub mod schema;
pub mod space;
