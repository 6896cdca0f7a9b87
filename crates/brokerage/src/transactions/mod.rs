//! What the house does with its books.

pub mod kinds;
