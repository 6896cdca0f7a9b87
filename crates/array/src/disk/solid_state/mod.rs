//! Solid-state disks: dies behind channels that sense and program pages side by side
//! ([`drive`]), a protected write buffer that is emptied at the rate that cleaning leaves
//! ([`write_state`], [`write_log`], [`amplification`]), and what follows from the sheet ([`flash`]).

mod amplification;
mod check;
mod description;
mod drive;
mod flash;
mod write_log;
mod write_state;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_log_tests;

pub use description::{SolidStateDescription, WriteHistory};
pub use drive::SolidState;

impl SolidStateDescription {
    /// Every rule this description breaks; paths start with `prefix`.
    pub fn check(&self, prefix: &str) -> Vec<crate::BrokenRule> {
        check::check(self, prefix)
    }

    /// Flash beyond the capacity, as a share of it, that the two sustained write rates speak of;
    /// `None` when random writes are as fast as sequential ones.
    pub fn spare_share(&self) -> Option<f64> {
        let fit = flash::WriteFit::new(self);
        amplification::spread_for(fit.amplification).map(|spread| spread - 1.0)
    }
}
