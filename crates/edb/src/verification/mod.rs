//! A closed database read back.
//!
//! - [`ClosedState::verify`] reads everything of it: pages, trees, headers, checkpoint and log;
//!   [`verify_pages`] its pages.
//! - [`StoredVersions`] keeps the versions of its pages in a file beside it while it is closed.
//! - [`half_written`] notes beside it that space ran out while pages were being written.

mod beside;
mod closed_state;
pub(crate) mod half_written;
mod page_pass;
mod stored_versions;

pub use beside::compare_beside;
pub use closed_state::{ClosedState, Verification};
pub use half_written::HALF_WRITTEN_ENDING;
pub use page_pass::{PagePass, verify_pages};
pub use stored_versions::{StoredVersions, VERSIONS_ENDING, versions_file};
