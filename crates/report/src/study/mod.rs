//! Studies as documents: the model beside the paper.
//!
//! [`study_page`] is the page of studies that were repeated: the papers' charts drawn from the model, the
//! figures, and the cases over time. [`study_tables`] are the figures alone, for a terminal.

mod page;
mod tables;

pub use page::study_page;
pub use tables::study_tables;
