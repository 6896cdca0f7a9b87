//! Disk groups and the groups laid out over them: which columns are there, and where they lie.

use std::ops::{Index, IndexMut};

use crate::raid::parity::Columns;
use crate::raid::vraid::DiskGroup;
use crate::raid::{Layout, Level, StripeLayout, Striped};
use crate::{BrokenRule, SECTOR_BYTES};

use super::lock::StripeRows;
use super::pace::Cursor;
use super::set::{DiskSet, Group, GroupView, Member, MemberState, NOWHERE};
use super::{BackendError, BackendSettings, DiskGroupSettings, GroupId, GroupState, StationId};

/// The layouts of the groups of a disk group.
fn layouts(
    settings: &DiskGroupSettings,
    number: u16,
    member_sectors: u64,
) -> Result<(Vec<Layout>, Option<DiskGroup>), BackendError> {
    let broken_rule = |key: &str, message: String| BackendError::Settings {
        broken_rules: vec![BrokenRule::new(
            format!("disk_group.{number}.{key}"),
            message,
        )],
    };
    if settings.level != Level::Vraid {
        let chunk_sectors = settings.chunk_sectors();
        let (level, disks) = (settings.level, settings.disks);
        let striped = Striped::new(level, disks, member_sectors, chunk_sectors);
        if striped.geometry().capacity_sectors() == 0 {
            let message = "The disks do not hold a single chunk; take a smaller one.";
            return Err(broken_rule("chunk_kib", message.into()));
        }
        return Ok((vec![Layout::Striped(striped)], None));
    }
    let mut disks = DiskGroup::new(
        settings.disks,
        member_sectors,
        settings.placement.segment_sectors(),
        settings.placement.stroke_fraction,
        settings.protection_level,
    );
    let mut layouts = Vec::new();
    for (disk_number, disk) in settings.virtual_disk.iter().enumerate() {
        let sectors = disk.size_sectors();
        let Some(layout) = disks.create(disk.level, sectors, settings.chunk_sectors()) else {
            let free_gib = (disks.free_sectors() * SECTOR_BYTES) >> 30;
            let message = format!(
                "'{}' does not fit: the disk group has {free_gib} GiB of segments free in \
                 the part of the stroke it may use, before redundancy.",
                disk.name
            );
            return Err(broken_rule(
                &format!("virtual_disk.{disk_number}.size_gib"),
                message,
            ));
        };
        layouts.push(Layout::Virtual(layout));
    }
    // With spares what a disk held is rebuilt onto one of them, else into free segments.
    Ok((layouts, (settings.spares == 0).then_some(disks)))
}

/// All disk sets and the groups on them. Groups are indexed by their number.
#[derive(Debug)]
pub(super) struct GroupTable {
    sets: Vec<DiskSet>,
    groups: Vec<Group>,
    names: Vec<String>,
    /// The names of the disk groups, set by set.
    set_names: Vec<String>,
}

impl Index<u16> for GroupTable {
    type Output = Group;

    #[inline]
    fn index(&self, group: u16) -> &Group {
        &self.groups[usize::from(group)]
    }
}

impl IndexMut<u16> for GroupTable {
    #[inline]
    fn index_mut(&mut self, group: u16) -> &mut Group {
        &mut self.groups[usize::from(group)]
    }
}

impl GroupTable {
    /// Lays the groups out over disks with these capacities, one for each station in turn.
    pub(super) fn new(
        settings: &BackendSettings,
        capacities: &[u64],
    ) -> Result<Self, BackendError> {
        let names = settings.group_names().into_iter().map(String::from);
        let mut table = Self {
            sets: Vec::new(),
            groups: Vec::new(),
            names: names.collect(),
            set_names: settings
                .disk_group
                .iter()
                .map(|group| group.name.clone())
                .collect(),
        };
        let mut first_station = 0;
        for disk_group in &settings.disk_group {
            table.add_set(disk_group, &mut first_station, capacities)?;
        }
        Ok(table)
    }

    fn add_set(
        &mut self,
        disk_group: &DiskGroupSettings,
        first_station: &mut u16,
        capacities: &[u64],
    ) -> Result<(), BackendError> {
        let members = *first_station..*first_station + disk_group.disks;
        let spares = members.end..members.end + disk_group.spares;
        *first_station = spares.end;
        let smallest = members
            .clone()
            .chain(spares.clone())
            .map(|station| capacities[usize::from(station)])
            .min()
            .unwrap_or(0);
        let members_start = members.start;
        let set_number = self.sets.len() as u16;
        let first_group = self.groups.len() as u16;
        let (layouts, space) = layouts(disk_group, set_number, smallest)?;
        for layout in layouts {
            self.groups.push(Group::new(set_number, layout));
        }
        self.sets.push(DiskSet {
            members: members.map(Member::new).collect(),
            stations: members_start..spares.end,
            spares: spares.collect(),
            member_sectors: smallest,
            groups: (first_group..self.groups.len() as u16).collect(),
            all_present: true,
            space,
        });
        Ok(())
    }

    /// The disk set of that number.
    #[inline]
    pub(super) fn set(&self, number: u16) -> &DiskSet {
        &self.sets[usize::from(number)]
    }

    #[inline]
    pub(super) fn set_mut(&mut self, number: u16) -> &mut DiskSet {
        &mut self.sets[usize::from(number)]
    }

    /// A disk set, and its groups.
    pub(super) fn set_and_groups(&mut self, number: u16) -> (&mut DiskSet, &[Group]) {
        let set = &mut self.sets[usize::from(number)];
        let groups = match (set.groups.first(), set.groups.last()) {
            (Some(&first), Some(&last)) => &self.groups[usize::from(first)..=usize::from(last)],
            _ => &[],
        };
        (set, groups)
    }

    /// Numbers of the disk sets.
    pub(super) fn set_numbers(&self) -> std::ops::Range<u16> {
        0..self.sets.len() as u16
    }

    /// The name of the disk group that is the disk set of that number.
    pub(super) fn set_name(&self, number: u16) -> &str {
        &self.set_names[usize::from(number)]
    }

    /// A group of a disk set has failed before.
    pub(super) fn mark_failed(&mut self, set: u16, name: &str) {
        let names = &self.names;
        let groups = self.sets[usize::from(set)].groups.iter();
        let found = groups
            .copied()
            .find(|&group| names[usize::from(group)] == name);
        if let Some(group) = found {
            self.groups[usize::from(group)].state = GroupState::Failed;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The disk set that a station belongs to.
    pub(super) fn set_of_station(&self, station: StationId) -> u16 {
        let mut sets = self.sets.iter();
        let position = sets.position(|set| set.stations.contains(&station.0));
        let Some(set) = position else {
            unreachable!("every station belongs to a disk group");
        };
        set as u16
    }

    pub(super) fn view(&self, id: GroupId) -> GroupView<'_> {
        let group = &self[id.0];
        GroupView {
            id,
            name: &self.names[usize::from(id.0)],
            state: group.state,
            geometry: group.geometry,
            capacity_sectors: group.capacity_sectors,
            counters: &group.counters,
        }
    }

    /// Whether any group of a set still has its contents, so that rebuilding is worth it.
    pub(super) fn is_worth_rebuilding(&self, set: u16) -> bool {
        let mut groups = self.set(set).groups.iter();
        groups.any(|&group| self[group].state != GroupState::Failed)
    }

    /// Whether any group of a set has redundancy.
    pub(super) fn is_protected(&self, set: u16) -> bool {
        let mut groups = self.set(set).groups.iter();
        groups.any(|&group| self[group].geometry.tolerance() > 0)
    }

    /// Brings the states of the groups of a set up to date after its members changed; calls
    /// `changed` with every group whose state is another now.
    pub(super) fn update_states(&mut self, set: u16, mut changed: impl FnMut(GroupId, GroupState)) {
        let set = &mut self.sets[usize::from(set)];
        set.update_presence();
        for &number in &set.groups {
            let group = &mut self.groups[usize::from(number)];
            let before = group.state;
            group.update_state(number, set);
            if group.state != before {
                changed(GroupId(number), group.state);
            }
        }
    }

    /// Station and sector of the first row of a column of a stripe.
    #[inline]
    pub(super) fn locate(&self, group: u16, stripe: u64, column: u16) -> (u16, u64) {
        let group = &self[group];
        self.set(group.set)
            .locate(group.layout.place(stripe, column))
    }

    /// Whether every member of a group's disk set is there.
    #[inline]
    pub(super) fn is_complete(&self, group: u16) -> bool {
        self.set(self[group].set).all_present
    }

    /// The columns of a stripe that are missing anywhere in a range of rows.
    #[inline]
    pub(super) fn missing_columns(&self, rows: StripeRows) -> Columns {
        let group = &self[rows.group];
        let set = self.set(group.set);
        if set.all_present {
            return Columns::default();
        }
        let index = set.index_of(rows.group);
        (0..group.geometry.columns())
            .filter(|&column| {
                let place = group.layout.place(rows.stripe, column);
                match &set.members[usize::from(place.member)].state {
                    MemberState::Present => false,
                    MemberState::Missing => true,
                    MemberState::Rebuilding(rebuilt) => {
                        !rebuilt.has(index, &group.geometry, rows.stripe, rows.from, rows.to)
                    }
                }
            })
            .collect()
    }

    /// The ranges of rows of a column that are not rebuilt yet, if others are: those must be kept
    /// up to date.
    pub(super) fn gaps_of_partly_rebuilt(
        &self,
        rows: StripeRows,
        column: u16,
    ) -> Option<Vec<(u32, u32)>> {
        let group = &self[rows.group];
        let set = self.set(group.set);
        let place = group.layout.place(rows.stripe, column);
        let MemberState::Rebuilding(rebuilt) = &set.members[usize::from(place.member)].state else {
            return None;
        };
        let index = set.index_of(rows.group);
        let range = (rows.from, rows.to);
        let gaps = rebuilt.gaps(index, &group.geometry, rows.stripe, range);
        (gaps != [range]).then_some(gaps)
    }

    /// The column of a stripe that lies on a member.
    pub(super) fn column_on(&self, rows: StripeRows, member: u16) -> Option<u16> {
        let group = &self[rows.group];
        (0..group.geometry.columns())
            .find(|&column| group.layout.place(rows.stripe, column).member == member)
    }

    /// The rows at a cursor, which moves on by at most `step_sectors`; none at the end. Stripes
    /// without a column to rebuild on `member` and groups that have failed are passed over.
    pub(super) fn next_rows(
        &self,
        set: u16,
        member: Option<u16>,
        step_sectors: u32,
        cursor: &mut Cursor,
    ) -> Option<StripeRows> {
        let set = self.set(set);
        while cursor.group < set.groups.len() {
            let number = set.groups[cursor.group];
            let group = &self[number];
            let geometry = &group.geometry;
            let tolerant = geometry.tolerance() > 0 && group.state != GroupState::Failed;
            if !tolerant || cursor.stripe >= geometry.stripes {
                cursor.group += 1;
                (cursor.stripe, cursor.row) = (0, 0);
                continue;
            }
            let stripe = cursor.stripe;
            if member.is_some_and(|member| !is_to_rebuild(set, group, stripe, member)) {
                cursor.stripe += 1;
                continue;
            }
            let from = cursor.row;
            let to = (from + u64::from(step_sectors)).min(geometry.chunk_sectors);
            cursor.row = to;
            if to == geometry.chunk_sectors {
                cursor.row = 0;
                cursor.stripe += 1;
            }
            return Some(StripeRows {
                group: number,
                stripe,
                from: from as u32,
                to: to as u32,
            });
        }
        None
    }
}

/// Whether a stripe has a column on a member, and that has a place to be rebuilt in.
fn is_to_rebuild(set: &DiskSet, group: &Group, stripe: u64, member: u16) -> bool {
    let mut columns = 0..group.geometry.columns();
    columns.any(|column| {
        let place = group.layout.place(stripe, column);
        place.member == member && set.locate(place).0 != NOWHERE
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const SETTINGS: &str = "[[disk_group]]\nname='a'\ndisk='d'\ndisks=4\nspares=1\nlevel='raid5'\n\
                            chunk_kib=32\n[[disk_group]]\nname='b'\ndisk='d'\ndisks=2\n\
                            level='raid1'\n";

    fn table() -> GroupTable {
        let settings: BackendSettings = config::from_toml(SETTINGS).unwrap();
        // The smallest disk of a set, its spares included, decides how much is used of all.
        GroupTable::new(&settings, &[640, 640, 640, 640, 320, 700, 640]).unwrap()
    }

    #[test]
    fn every_station_belongs_to_one_set_and_holds_one_member_or_is_a_spare() {
        let table = table();
        assert_eq!((table.len(), table.set_numbers()), (2, 0..2));
        for station in 0..7 {
            let set = table.set_of_station(StationId(station));
            assert_eq!(set, u16::from(station >= 5));
            let is_spare = table.set(set).spares.contains(&station);
            assert_eq!(is_spare, station == 4);
            assert_eq!(table.set(set).member_at(station).is_none(), is_spare);
        }
        assert_eq!(table.set(0).member_sectors, 320);
        assert_eq!(table[0].capacity_sectors, 3 * 320);
        assert_eq!(table[1].capacity_sectors, 640);
    }

    #[test]
    fn a_walk_meets_every_row_of_a_set_once() {
        let mut table = table();
        for set in table.set_numbers() {
            let mut cursor = Cursor::default();
            let mut walked: BTreeMap<(u16, u64), u32> = BTreeMap::new();
            while let Some(rows) = table.next_rows(set, None, 24, &mut cursor) {
                let reached = walked.entry((rows.group, rows.stripe)).or_default();
                assert_eq!(rows.from, *reached, "no row is left out or met again");
                assert!(rows.to - rows.from <= 24);
                *reached = rows.to;
            }
            let geometry = &table[set].geometry;
            assert_eq!(walked.len() as u64, geometry.stripes);
            let whole = |end: &u32| u64::from(*end) == geometry.chunk_sectors;
            assert!(walked.values().all(whole));
        }
        // What has failed is passed over.
        table[0].state = GroupState::Failed;
        assert_eq!(table.next_rows(0, None, 24, &mut Cursor::default()), None);
        assert!(!table.is_worth_rebuilding(0) && table.is_worth_rebuilding(1));
    }

    #[test]
    fn columns_are_missing_where_their_member_is() {
        let mut table = table();
        let rows = StripeRows {
            group: 0,
            stripe: 1,
            from: 0,
            to: 8,
        };
        assert_eq!(table.missing_columns(rows).count(), 0);
        for member in 0..4 {
            table.set_mut(0).members[usize::from(member)].state = MemberState::Missing;
            let mut changes = Vec::new();
            table.update_states(0, |group, state| changes.push((group, state)));
            let missing = table.missing_columns(rows);
            assert_eq!(missing.count(), member + 1);
            let column = table.column_on(rows, member).unwrap();
            assert!(missing.has(column) && !table.is_complete(0) && table.is_complete(1));
            let expected = match member {
                0 => vec![(GroupId(0), GroupState::Critical)],
                1 => vec![(GroupId(0), GroupState::Failed)],
                _ => Vec::new(),
            };
            assert_eq!(changes, expected);
        }
    }
}
