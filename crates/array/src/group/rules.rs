//! What the settings decide: which copy of a mirror is read, and how a write keeps redundancy up to
//! date.

use crate::payload::Payload;
use crate::raid::parity::Columns;
use crate::raid::{Geometry, Protection};

use super::task::Task;
use super::{BackendSettings, MirrorRead, SmallWrite};

/// Which copy of a mirror is read.
#[derive(Debug)]
pub(super) struct MirrorChoice {
    policy: MirrorRead,
    /// Reads so far, modulo 2^32.
    turn: u32,
}

impl MirrorChoice {
    pub(super) fn new(policy: MirrorRead) -> Self {
        Self { policy, turn: 0 }
    }

    /// The copies in the order in which the next read considers them; each read begins with
    /// another one unless the policy is always to read the first.
    pub(super) fn order(&mut self, copies: u16) -> impl Iterator<Item = u16> + use<> {
        self.turn = self.turn.wrapping_add(1);
        let first = match self.policy {
            MirrorRead::First => 0,
            MirrorRead::LessBusy | MirrorRead::Alternate => self.turn,
        };
        (0..copies)
            .map(move |copy| (u32::from(copy).wrapping_add(first) % u32::from(copies)) as u16)
    }

    /// Whether the disk with fewer requests is preferred.
    pub(super) fn considers_load(&self) -> bool {
        self.policy == MirrorRead::LessBusy
    }
}

/// How a task brings its stripe up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpdateMethod {
    /// Old data and old parity determine what to change in the parity.
    ReadModifyWrite,
    /// The parity is computed from the whole rows; columns not written are read.
    Reconstruct,
    /// Nothing has to be read.
    Plain,
    /// A piece lies in a missing column, or the rest of the rows does: everything is read.
    ReadAll,
}

/// How writes keep parity up to date.
#[derive(Debug)]
pub(super) struct WriteRules {
    small_write: SmallWrite,
    /// The widest gap between pieces of a stripe that share an update of the parity.
    pub(super) parity_gap_sectors: u32,
}

impl WriteRules {
    pub(super) fn new(settings: &BackendSettings) -> Self {
        Self {
            small_write: settings.policy.small_write,
            parity_gap_sectors: settings.parity_gap_sectors(),
        }
    }

    /// How a task brings its stripe up to date: the way with fewer disk requests among those that
    /// are possible, unless the settings name one.
    #[inline]
    pub(super) fn choose<P: Payload>(&self, geometry: &Geometry, task: &Task<P>) -> UpdateMethod {
        if !matches!(geometry.protection, Protection::Parity(_)) {
            return UpdateMethod::Plain;
        }
        let parities = parities_there(geometry, task).count();
        let pieces = task.pieces.len() as u16;
        let mut rest = 0;
        let mut rest_there = true;
        for column in 0..geometry.data_columns {
            if !task.covers(column) {
                rest += 1;
                rest_there &= !task.missing.has(column);
            }
        }
        let pieces_there = !task.touches(task.missing);
        if pieces_there && parities == 0 || rest == 0 {
            return UpdateMethod::Plain;
        }
        let modify = match self.small_write {
            SmallWrite::FewestRequests => pieces + parities <= rest,
            SmallWrite::ReadModifyWrite => true,
            SmallWrite::Reconstruct => false,
        };
        match (pieces_there, rest_there) {
            (true, true) if modify => UpdateMethod::ReadModifyWrite,
            (true, false) => UpdateMethod::ReadModifyWrite,
            (_, true) => UpdateMethod::Reconstruct,
            (false, false) => UpdateMethod::ReadAll,
        }
    }
}

/// Columns of redundancy of a task's stripe that are there.
#[inline]
pub(super) fn parities_there<P>(geometry: &Geometry, task: &Task<P>) -> Columns {
    let redundant = match geometry.protection {
        Protection::Parity(_) => geometry.data_columns..geometry.columns(),
        _ => 0..0,
    };
    redundant
        .filter(|&column| !task.missing.has(column))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_each_copy_once_and_begins_as_the_policy_says() {
        for (policy, firsts) in [
            (MirrorRead::First, [0, 0, 0, 0]),
            (MirrorRead::Alternate, [1, 2, 0, 1]),
            (MirrorRead::LessBusy, [1, 2, 0, 1]),
        ] {
            let mut choice = MirrorChoice::new(policy);
            for first in firsts {
                let mut order: Vec<u16> = choice.order(3).collect();
                assert_eq!(order[0], first, "{policy:?}");
                order.sort_unstable();
                assert_eq!(order, [0, 1, 2]);
            }
        }
    }
}
