//! Where every page of every volume lies. Four bytes per page of a volume, found in one step.

use prefetch_index::prefetch_index;

use super::space::GroupSpace;
use crate::VolumeId;

/// Bits of a location that number the slot; the rest, but one, numbers the group in the pool.
const SLOT_BITS: u32 = 26;
/// Most disk groups in a pool. Sixteen RAID sets is what the arrays modelled so far allow.
pub(crate) const GROUPS_MAX: usize = 1 << (31 - SLOT_BITS);
/// Most pages in a disk group: 256 TB of 4 MB pages.
pub(crate) const SLOTS_MAX: u32 = (1 << SLOT_BITS) - 1;

/// Where a page lies, in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location(u32);

impl Location {
    const NOWHERE: Self = Self(u32::MAX);
    const BLANK: u32 = 1 << 31;

    pub(crate) fn new(group: usize, slot: u32) -> Self {
        assert!(group < GROUPS_MAX && slot < SLOTS_MAX);
        Self((group as u32) << SLOT_BITS | slot)
    }

    fn with_blank(self, blank: bool) -> Self {
        if blank {
            Self(self.0 | Self::BLANK)
        } else {
            self
        }
    }

    /// The disk group, by its number in the pool.
    pub(crate) fn group(self) -> usize {
        ((self.0 & !Self::BLANK) >> SLOT_BITS) as usize
    }

    /// The slot in the disk group.
    pub(crate) fn slot(self) -> u32 {
        self.0 & SLOTS_MAX
    }

    /// Whether the slot still holds what a former owner wrote. The page reads as zeros, and its
    /// slot must be zeroed before a part of it is written.
    pub(crate) fn is_blank(self) -> bool {
        self.0 & Self::BLANK != 0
    }
}

/// The pages of one volume: a run of page numbers of the pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VolumePages {
    /// The number in the pool of the volume's first page.
    pub(crate) first_page: u32,
    pub(crate) pages: u32,
}

/// The page table of a pool.
#[derive(Debug)]
pub(crate) struct PageMap {
    /// Page size as a power of two of sectors.
    page_shift: u32,
    /// Volumes of this pool by `VolumeId`; volumes of other pools have no pages here.
    volumes: Vec<VolumePages>,
    locations: Vec<Location>,
    pub(crate) spaces: Vec<GroupSpace>,
    /// Pages with another location since somebody asked for them last; `None` where nobody does.
    moved: Option<Vec<u32>>,
}

impl PageMap {
    /// An empty map over `spaces`, with pages of `2^page_shift` sectors.
    pub(crate) fn new(page_shift: u32, spaces: Vec<GroupSpace>) -> Self {
        assert!(spaces.len() <= GROUPS_MAX);
        Self {
            page_shift,
            volumes: Vec::new(),
            locations: Vec::new(),
            spaces,
            moved: None,
        }
    }

    /// Notes pages that have another location from now on, and slots that are in use for the first time.
    pub(crate) fn note_changes(&mut self) {
        self.moved = Some(Vec::new());
        self.spaces.iter_mut().for_each(GroupSpace::note_changes);
    }

    /// The pages that have another location since the last call.
    pub(crate) fn take_moved(&mut self) -> Vec<u32> {
        self.moved.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note_moved(&mut self, page: u32) {
        if let Some(moved) = &mut self.moved {
            moved.push(page);
        }
    }

    /// The location of a page as a number that [`PageMap::restore`] knows again.
    pub(crate) fn number_of(&self, page: u32) -> u32 {
        self.locations[page as usize].0
    }

    /// Puts a page, which has no place, where a number says. `group_of` knows the number of a group now from what
    /// it was. `false` if there is no such place, or it is not free.
    pub(crate) fn restore(
        &mut self,
        page: u32,
        number: u32,
        group_of: impl Fn(usize) -> Option<usize>,
    ) -> bool {
        let kept = Location(number);
        if kept == Location::NOWHERE {
            return true;
        }
        let Some(group) = group_of(kept.group()) else {
            return false;
        };
        let is_taken = self.spaces[group].take_slot_for(kept.slot(), page);
        if is_taken {
            let location = Location::new(group, kept.slot());
            self.locations[page as usize] = location.with_blank(kept.is_blank());
        }
        is_taken
    }

    /// Adds a volume of `sectors` sectors.
    pub(crate) fn add_volume(&mut self, volume: VolumeId, sectors: u64) {
        let none = VolumePages {
            first_page: 0,
            pages: 0,
        };
        let index = usize::from(volume.0);
        if self.volumes.len() <= index {
            self.volumes.resize(index + 1, none);
        }
        assert_eq!(self.volumes[index].pages, 0, "{volume:?} was added twice");
        let pages = sectors.div_ceil(u64::from(self.page_sectors())) as u32;
        self.volumes[index] = VolumePages {
            first_page: self.locations.len() as u32,
            pages,
        };
        let total = self.locations.len() + pages as usize;
        self.locations.resize(total, Location::NOWHERE);
    }

    /// Sectors in a page.
    pub(crate) fn page_sectors(&self) -> u32 {
        1 << self.page_shift
    }

    /// Pages of all volumes, allocated or not.
    pub(crate) fn pages(&self) -> u32 {
        self.locations.len() as u32
    }

    /// The pages of a volume of this pool.
    pub(crate) fn volume(&self, volume: VolumeId) -> VolumePages {
        self.volumes[usize::from(volume.0)]
    }

    /// The page that holds `sector` of `volume`, and the sector's place in it.
    #[inline]
    pub(crate) fn page_of(&self, volume: VolumeId, sector: u64) -> (u32, u32) {
        let VolumePages { first_page, pages } = self.volume(volume);
        let index = sector >> self.page_shift;
        assert!(index < u64::from(pages), "sector {sector} of {volume:?}");
        let offset = sector & u64::from(self.page_sectors() - 1);
        (first_page + index as u32, offset as u32)
    }

    /// Has the CPU fetch the entry of the page that holds `sector` of `volume`.
    #[inline]
    pub(crate) fn prefetch(&self, volume: VolumeId, sector: u64) {
        let first_page = self.volume(volume).first_page as usize;
        let page = first_page + (sector >> self.page_shift) as usize;
        prefetch_index(&self.locations, page);
    }

    /// Where `page` lies, if it was ever written.
    #[inline]
    pub(crate) fn location(&self, page: u32) -> Option<Location> {
        Some(self.locations[page as usize]).filter(|&location| location != Location::NOWHERE)
    }

    /// The sector of its disk group at which `location` begins.
    #[inline]
    pub(crate) fn first_sector(&self, location: Location) -> u64 {
        u64::from(location.slot()) << self.page_shift
    }

    /// Puts `page` into the lowest free slot of the group numbered `group`.
    pub(crate) fn place(&mut self, page: u32, group: usize) -> bool {
        assert!(self.location(page).is_none(), "page {page} has a place");
        let Some((slot, used)) = self.spaces[group].take_for(page) else {
            return false;
        };
        self.locations[page as usize] = Location::new(group, slot).with_blank(used);
        self.note_moved(page);
        true
    }

    /// The slot of `page` was zeroed.
    pub(crate) fn zeroed(&mut self, page: u32) {
        let location = &mut self.locations[page as usize];
        assert!(*location != Location::NOWHERE && location.is_blank());
        location.0 &= !Location::BLANK;
        self.note_moved(page);
    }

    /// `page` lies in the reserved slot `to` from now on; its old slot is released.
    pub(crate) fn relocate(&mut self, page: u32, to: Location) {
        let from = self.locations[page as usize];
        assert!(from != Location::NOWHERE, "page {page} has no place");
        self.spaces[to.group()].settle(to.slot(), page);
        self.locations[page as usize] = to;
        self.note_moved(page);
        self.spaces[from.group()].release(from.slot());
    }

    /// Gives the slot of `page` back; the page reads as zeros from now on.
    pub(crate) fn release(&mut self, page: u32) -> Option<Location> {
        let from = self.location(page)?;
        self.locations[page as usize] = Location::NOWHERE;
        self.note_moved(page);
        self.spaces[from.group()].release(from.slot());
        Some(from)
    }

    /// Slots that can be taken now, in all groups.
    pub(crate) fn free(&self) -> u64 {
        self.spaces
            .iter()
            .map(|space| u64::from(space.free()))
            .sum()
    }

    /// Asserts that every page lies in one slot and every slot holds one page, is the target of
    /// a move, holds data of others, is free, or waits for requests in flight to become free. `O(pages)`.
    pub(crate) fn check(&self) {
        let mut placed = vec![0_u64; self.spaces.len()];
        for page in 0..self.pages() {
            if let Some(at) = self.location(page) {
                let owner = self.spaces[at.group()].owner(at.slot());
                assert_eq!(owner, Some(page), "the slot of page {page}");
                placed[at.group()] += 1;
            }
        }
        for (space, placed) in self.spaces.iter().zip(placed) {
            let mut owned = 0;
            for slot in 0..space.slots() {
                let (free, lingers) = space.is_free_or_lingers(slot);
                let owner = space.owner(slot);
                owned += u64::from(owner.is_some());
                let states = [
                    owner.is_some(),
                    space.is_reserved(slot),
                    space.is_of_others(slot),
                    free,
                    lingers,
                ];
                let held = states.into_iter().filter(|&state| state).count();
                assert_eq!(held, 1, "slot {slot} of {:?}: {states:?}", space.group);
            }
            assert_eq!(owned, u64::from(space.owned()));
            assert_eq!(owned, placed, "pages in {:?}", space.group);
        }
    }
}
