//! The flash of an array, in numbers and words.

use array::description::PlannedArray;
use array::raid::Level;
use measure::units;

/// The SSDs of an array, spares left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flash {
    /// Number of SSDs in each disk group that has any.
    ssds: Vec<u16>,
    /// Capacity of all of them.
    pub bytes: u64,
    /// Whether one of them that fails takes data with it: no copy and no parity, and no read cache.
    is_unprotected: bool,
}

impl Flash {
    /// What is in this array.
    pub fn of(planned: &PlannedArray) -> Self {
        let settings = &planned.settings;
        let mut flash = Self {
            ssds: Vec::new(),
            bytes: 0,
            is_unprotected: false,
        };
        let is_cache = |name: &str| {
            let mut caches = settings
                .pools
                .values()
                .filter_map(|pool| pool.read_cache.as_ref());
            caches.any(|cache| cache.group == name)
        };
        for group in &settings.backend.disk_group {
            let disk = settings.disks.get(&group.disk);
            let Some(ssd) = disk.and_then(|disk| disk.solid_state.as_ref()) else {
                continue;
            };
            flash.ssds.push(group.disks);
            flash.bytes += u64::from(group.disks) * ssd.capacity_bytes;
            let has_no_copy = matches!(group.level, Level::Linear | Level::Raid0);
            flash.is_unprotected |= has_no_copy && !is_cache(&group.name);
        }
        flash
    }

    /// How much it is: `2 SSDs, 1 in each of 2 disk groups, 1.46 TiB of flash`.
    pub fn in_words(&self) -> String {
        let Some(&first) = self.ssds.first() else {
            return "no flash".to_owned();
        };
        let all = self.ssds.iter().map(|ssds| u64::from(*ssds)).sum();
        let groups = self.ssds.len();
        let where_they_are = match groups {
            1 => String::new(),
            _ if self.ssds.iter().all(|ssds| *ssds == first) => {
                format!(", {first} in each of {groups} disk groups")
            }
            _ => format!(" in {groups} disk groups"),
        };
        format!(
            "{}{where_they_are}, {} of flash",
            units::count(all, "SSD"),
            units::size(self.bytes)
        )
    }

    /// What must be known before buying it; empty when nothing must.
    pub fn warning(&self) -> &'static str {
        match self.is_unprotected {
            true => " These SSDs have no redundancy: one that fails loses data.",
            false => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash(ssds: &[u16], is_unprotected: bool) -> Flash {
        Flash {
            ssds: ssds.to_vec(),
            bytes: 1 << 40,
            is_unprotected,
        }
    }

    #[test]
    fn the_number_of_ssds_is_that_of_each_group_and_of_all() {
        let words = |ssds: &[u16]| flash(ssds, false).in_words();
        assert_eq!(words(&[]), "no flash");
        assert_eq!(words(&[1]), "1 SSD, 1 TiB of flash");
        assert_eq!(
            words(&[1, 1]),
            "2 SSDs, 1 in each of 2 disk groups, 1 TiB of flash"
        );
        assert_eq!(words(&[1, 2]), "3 SSDs in 2 disk groups, 1 TiB of flash");
        assert!(flash(&[1], true).warning().contains("loses data"));
        assert_eq!(flash(&[1], false).warning(), "");
    }
}
