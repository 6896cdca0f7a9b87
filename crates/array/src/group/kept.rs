//! What of disk groups outlives their process.

use crate::kept::{DiskContents, KeptDiskGroup, Misfit, runs};
use crate::payload::Payload;

use super::backend::Backend;
use super::set::MemberState;
use super::{GroupState, StationId};

impl<P: Payload> Backend<P> {
    /// Keeps the contents of the disk in each station where `contents_of` says.
    pub(crate) fn keep(&mut self, contents_of: impl FnMut(u32) -> Box<dyn DiskContents<P>>) {
        self.disks.keep(contents_of);
    }

    /// The disk groups as they are now.
    pub(crate) fn kept_disk_groups(&self) -> Vec<KeptDiskGroup> {
        let sets = self.groups.set_numbers();
        sets.map(|number| self.kept_disk_group(number)).collect()
    }

    fn kept_disk_group(&self, number: u16) -> KeptDiskGroup {
        let set = self.groups.set(number);
        let within = |station: u16| station - set.stations.start;
        let members = (0..).zip(&set.members);
        let missing = members
            .filter(|(_, member)| member.state != MemberState::Present)
            .map(|(number, _)| number);
        let stations = set.stations.clone();
        let station = |number| self.disks.station(StationId(number));
        let failed_groups = set
            .groups
            .iter()
            .map(|&group| self.groups.view(super::GroupId(group)));
        let failed_groups = failed_groups.filter(|group| group.state == GroupState::Failed);
        KeptDiskGroup {
            name: self.groups.set_name(number).to_owned(),
            members: set
                .members
                .iter()
                .map(|member| within(member.station))
                .collect(),
            missing: missing.collect(),
            spares: set.spares.iter().copied().map(within).collect(),
            failed_disks: stations
                .clone()
                .filter(|&number| !station(number).is_working())
                .map(within)
                .collect(),
            failed_groups: failed_groups.map(|group| group.name.to_owned()).collect(),
            unreadable: stations
                .flat_map(|number| {
                    let found = runs(station(number).unreadable_sectors());
                    let disk = within(number);
                    found
                        .into_iter()
                        .map(move |(first, count)| (disk, first, count))
                })
                .collect(),
        }
    }

    /// Makes the disk groups what they were. Those that `kept` does not name stay as they are; rebuilds begin
    /// again.
    pub(crate) fn restore(&mut self, now_ns: u64, kept: &[KeptDiskGroup]) -> Result<(), Misfit> {
        for disk_group in kept {
            let mut numbers = self.groups.set_numbers();
            let number = numbers.find(|&number| self.groups.set_name(number) == disk_group.name);
            let number = number.ok_or_else(|| {
                Misfit(format!("the array has no disk group '{}'", disk_group.name))
            })?;
            self.restore_one(now_ns, number, disk_group)?;
        }
        self.settle(now_ns);
        Ok(())
    }

    fn restore_one(
        &mut self,
        now_ns: u64,
        number: u16,
        kept: &KeptDiskGroup,
    ) -> Result<(), Misfit> {
        let set = self.groups.set_mut(number);
        let first = set.stations.start;
        let disks = set.stations.len();
        let mut named = kept
            .members
            .iter()
            .chain(&kept.spares)
            .chain(&kept.failed_disks);
        let members = set.members.len();
        let fits = kept.members.len() == members
            && named.all(|&disk| usize::from(disk) < disks)
            && kept
                .missing
                .iter()
                .all(|&member| usize::from(member) < members);
        if !fits {
            return Err(Misfit(format!(
                "disk group '{}' has other disks",
                kept.name
            )));
        }
        for (member, &disk) in set.members.iter_mut().zip(&kept.members) {
            member.station = first + disk;
        }
        for &member in &kept.missing {
            set.members[usize::from(member)].state = MemberState::Missing;
        }
        set.spares = kept.spares.iter().map(|&disk| first + disk).collect();
        for &disk in &kept.failed_disks {
            self.disks.fail(now_ns, StationId(first + disk));
        }
        for &(disk, first_sector, sectors) in &kept.unreadable {
            for sector in first_sector..first_sector + sectors {
                self.disks.mark_unreadable(first + disk, sector, 1);
            }
        }
        for name in &kept.failed_groups {
            self.groups.mark_failed(number, name);
        }
        self.update_states(now_ns, number);
        for &member in &kept.missing {
            let station = self.groups.set(number).members[usize::from(member)].station;
            if self.disks.station(StationId(station)).is_working() {
                self.rebuild_if_worth_it(now_ns, number, member);
            }
        }
        self.use_spare(now_ns, number);
        Ok(())
    }

    /// A number that changes whenever [`Backend::kept_disk_groups`] does, but for sectors that are written again.
    pub(crate) fn state_revision(&self) -> u64 {
        self.log.ever_added() + self.disks.ever_marked()
    }

    /// Has whole blocks of the disks below a run of whole stripes read as zeros. Nobody needs what is there.
    pub(crate) fn discard(&mut self, group: super::GroupId, first_sector: u64, sectors: u64) {
        let geometry = self.groups[group.0].geometry;
        let stripe_sectors = geometry.stripe_sectors();
        let first = first_sector.div_ceil(stripe_sectors);
        let end = (first_sector + sectors) / stripe_sectors;
        for stripe in first..end {
            for column in 0..geometry.columns() {
                let (station, at) = self.groups.locate(group.0, stripe, column);
                self.disks.discard(station, at, geometry.chunk_sectors);
            }
        }
    }
}
