//! The page map: which page of a volume lies where, and what is free.

mod free_map;
mod map;
mod order;
mod space;

pub(crate) use map::{GROUPS_MAX, Location, PageMap, SLOTS_MAX};
pub(crate) use space::GroupSpace;
