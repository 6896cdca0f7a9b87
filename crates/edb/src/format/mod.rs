//! The bytes on disk: no input or output happens here, and nothing waits.
//!
//! Start with [`page`]: every byte of a database but its two headers lies in pages. [`checksum`] seals them.
//!
//! All integers are little-endian, except in keys, which are big-endian so that their bytes sort like their values.

pub mod checksum;
pub mod page;
