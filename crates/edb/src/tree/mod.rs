//! B+ trees on pages.
//!
//! A tree is known by the number of its root page, which never changes: a full root moves its nodes
//! into a new child and stays. Internal pages hold exclusive upper bounds; the last node of each has
//! an empty key, which means "no bound". Leaves are linked both ways. Keys are unique.
//!
//! - [`step`]: a [`Step`] reads pages and collects changes, all of which happen or none.
//! - [`operation`], [`content`], [`bytes`]: what a change of a page is, and how it is logged.
//! - [`find`]: from a key to its leaf. [`insert`] puts a node where there is room; [`split`] makes
//!   room, in a page that the caller brings.
//!
//! Everything here is synchronous and knows nothing of transactions. A step aborted because a page
//! is missing has changed nothing.

pub(crate) mod bytes;
pub(crate) mod content;
pub(crate) mod find;
pub(crate) mod insert;
pub(crate) mod operation;
pub(crate) mod split;
pub(crate) mod step;

/// The bytes of one page.
pub(crate) type Page = runtime::Buffer;

pub(crate) use find::{Found, find, find_leaf};
pub(crate) use operation::{DataChange, PageOperation};
pub(crate) use step::{LoggedOperations, Need, Pages, Step, StepOperations};
