//! Virtual disks over a disk group, as in the EVA.
//!
//! A disk group is divided into redundant storage sets (RSS) of 6 to 11 disks, aimed at 8. Disks
//! are allocated in physical segments (PSEG), 2 MiB long in the EVA. A virtual disk is a row of *stores*: a
//! Vraid5 store is five segments on five disks of one storage set, four for data and one for
//! rotating parity; a Vraid1 store two pairs of segments, each on a pair of disks; a Vraid0 store
//! four segments on four disks. Within a store chunks go from segment to segment.
//!
//! Source: public descriptions of the EVA, most of them unconfirmed (segment, storage set, 4+1,
//! pairs, 128 KiB chunk). How segments are spread over disk and stroke is not published: stores
//! go to the storage set and the disks that are filled least.
//!
//! There are no spare disks. What a failed disk held is rebuilt segment by segment into free
//! segments of the other disks of its storage set; a protection level keeps some free for that.

use config::choice;

use super::{Geometry, Place, Protection, StripeLayout};

/// Fewest disks in a disk group: those of the smallest storage set.
pub const MINIMUM_DISKS: u16 = 6;

choice! {
    /// How a virtual disk is protected.
    pub enum Vraid default Vraid1 {
        /// Striped over all disks, without protection.
        Vraid0 = "vraid0",
        /// Every segment on a pair of disks.
        Vraid1 = "vraid1",
        /// Four data segments and a parity segment.
        Vraid5 = "vraid5",
    }
}

impl Vraid {
    /// Segments of a store.
    fn width(self) -> usize {
        match self {
            Self::Vraid0 | Self::Vraid1 => 4,
            Self::Vraid5 => 5,
        }
    }

    /// Segments' worth of data in a store.
    fn data_segments(self) -> u64 {
        match self {
            Self::Vraid0 | Self::Vraid5 => 4,
            Self::Vraid1 => 2,
        }
    }
}

choice! {
    /// How many disks' worth of segments a disk group keeps free, so that what a failed disk held
    /// can be rebuilt into them. There are no spare disks: the reserve lies spread over all disks.
    pub enum ProtectionLevel default None {
        /// None is kept; a rebuild takes what happens to be free.
        None = "none",
        /// Enough for one failure: two disks' worth.
        Single = "single",
        /// Enough for two failures, one after the other: four disks' worth.
        Double = "double",
    }
}

impl ProtectionLevel {
    /// Disks' worth of segments kept free: twice as many as failures, since the copy of a Vraid1
    /// must go to another pair (unconfirmed).
    pub fn reserved_disks(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Single => 2,
            Self::Double => 4,
        }
    }
}

/// A segment of a virtual disk: where it was allocated when the virtual disk was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The disk, by its number in the disk group.
    pub member: u16,
    /// Its first sector there.
    pub first_sector: u64,
}

/// The layout of one virtual disk.
#[derive(Debug, Clone)]
pub struct VirtualDisk {
    vraid: Vraid,
    geometry: Geometry,
    /// Chunks in a segment.
    rows: u64,
    segments: Vec<Segment>,
    domains: Vec<u16>,
}

impl StripeLayout for VirtualDisk {
    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline]
    fn place(&self, stripe: u64, column: u16) -> Place {
        let column = u64::from(column);
        let rows = self.rows;
        let (store, segment, row) = match self.vraid {
            Vraid::Vraid0 => {
                let store = stripe / (4 * rows);
                let chunk = stripe - store * 4 * rows;
                (store, chunk % 4, chunk / 4)
            }
            Vraid::Vraid1 => {
                let store = stripe / (2 * rows);
                let chunk = stripe - store * 2 * rows;
                (store, 2 * (chunk % 2) + column, chunk / 2)
            }
            Vraid::Vraid5 => {
                let store = stripe / rows;
                let row = stripe - store * rows;
                // As in RAID 5: parity moves to the left, data starts after it.
                let parity = 4 - row % 5;
                (store, (parity + 1 + column) % 5, row)
            }
        };
        let segment = self.segments[store as usize * self.vraid.width() + segment as usize];
        Place {
            member: segment.member,
            first_sector: segment.first_sector + row * self.geometry.chunk_sectors,
        }
    }

    /// Its pair in Vraid1, else its storage set.
    fn domain(&self, member: u16) -> u16 {
        self.domains[usize::from(member)]
    }
}

impl VirtualDisk {
    /// The protection of the virtual disk.
    pub fn vraid(&self) -> Vraid {
        self.vraid
    }

    /// The segments, store by store.
    pub fn stores(&self) -> impl Iterator<Item = &[Segment]> {
        self.segments.chunks_exact(self.vraid.width())
    }

    /// The segments of a store whose loss together costs data, as ranges of the store: in Vraid1
    /// each pair by itself.
    pub fn failure_domains(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let size = match self.vraid {
            Vraid::Vraid0 => 4,
            Vraid::Vraid1 => 2,
            Vraid::Vraid5 => 5,
        };
        let count = self.vraid.width() / size;
        (0..count).map(move |domain| domain * size..(domain + 1) * size)
    }

    /// The stripes that have a column on a segment, which is given by its store and its place in
    /// the store.
    pub fn stripes_of(&self, store: u64, segment: usize) -> impl Iterator<Item = u64> + use<> {
        let rows = self.rows;
        let (first, step) = match self.vraid {
            Vraid::Vraid0 => (store * 4 * rows + segment as u64, 4),
            Vraid::Vraid1 => (store * 2 * rows + segment as u64 / 2, 2),
            Vraid::Vraid5 => (store * rows, 1),
        };
        (0..rows).map(move |row| first + row * step)
    }
}

/// A disk group while virtual disks are laid out over it.
#[derive(Debug, Clone)]
pub struct DiskGroup {
    segment_sectors: u64,
    /// First member and size of every storage set.
    sets: Vec<(u16, u16)>,
    /// Segments allocated on every member.
    allocated: Vec<u64>,
    /// Segments on every disk; those that virtual disks are scattered over, and the step from one
    /// allocated to the next.
    all: u64,
    slots: u64,
    step: u64,
    /// Segments that virtual disks leave free, on all disks together.
    reserved: u64,
}

/// Sizes of the storage sets of a disk group: as equal as possible, aimed at 8, within 6 to 11.
pub fn storage_sets(disks: u16) -> Vec<(u16, u16)> {
    let count = ((disks + 4) / 8).max(1);
    let mut first = 0;
    (0..count)
        .map(|set| {
            let size = disks / count + u16::from(set < disks % count);
            first += size;
            (first - size, size)
        })
        .collect()
}

impl DiskGroup {
    /// An empty disk group. Segments are scattered over `stroke_fraction` of each disk from its
    /// outer edge, or packed one after the other if that is zero.
    ///
    /// # Panics
    ///
    /// With fewer than [`MINIMUM_DISKS`] disks.
    pub fn new(
        disks: u16,
        member_sectors: u64,
        segment_sectors: u64,
        stroke_fraction: f64,
        protection: ProtectionLevel,
    ) -> Self {
        assert!(disks >= MINIMUM_DISKS);
        let all = member_sectors / segment_sectors;
        let packed = stroke_fraction <= 0.0;
        let slots = if packed {
            all
        } else {
            ((all as f64 * stroke_fraction) as u64).clamp(1, all.max(1))
        };
        // Steps by the golden section lie evenly however many are taken.
        let mut step = if packed {
            1
        } else {
            (slots as f64 * 0.618_033_988_749_895) as u64
        };
        while common_divisor(step.max(1), slots.max(1)) != 1 {
            step += 1;
        }
        Self {
            segment_sectors,
            sets: storage_sets(disks),
            allocated: vec![0; usize::from(disks)],
            all,
            slots: slots.min(all),
            step: step.max(1),
            reserved: protection.reserved_disks() * all,
        }
    }

    /// Length of a segment, sectors.
    pub fn segment_sectors(&self) -> u64 {
        self.segment_sectors
    }

    /// Segments on every disk.
    pub fn segments_per_disk(&self) -> u64 {
        self.all
    }

    /// Segments that virtual disks may still take, on all disks together.
    fn free_segments(&self) -> u64 {
        let allocated: u64 = self.allocated.iter().sum();
        let disks = self.allocated.len() as u64;
        let within = (self.slots * disks).min((self.all * disks).saturating_sub(self.reserved));
        within.saturating_sub(allocated)
    }

    /// Sectors that virtual disks may still take, on all disks together.
    pub fn free_sectors(&self) -> u64 {
        self.free_segments() * self.segment_sectors
    }

    /// Takes the next segment of a disk: in the part that virtual disks are scattered over, and
    /// once that is full one after the other behind it.
    fn allocate(&mut self, member: u16) -> Option<Segment> {
        let number = self.allocated[usize::from(member)];
        (number < self.all).then(|| {
            self.allocated[usize::from(member)] += 1;
            let slot = if number < self.slots {
                (u128::from(number) * u128::from(self.step) % u128::from(self.slots)) as u64
            } else {
                number
            };
            Segment {
                member,
                first_sector: slot * self.segment_sectors,
            }
        })
    }

    /// A disk has failed: nothing is left to be taken on it.
    pub fn close(&mut self, member: u16) {
        self.allocated[usize::from(member)] = self.all;
    }

    /// A blank disk replaces a failed one: all of it can be taken.
    pub fn open(&mut self, member: u16) {
        self.allocated[usize::from(member)] = 0;
    }

    /// Takes a segment on the disk of `member`'s storage set that is filled least and is none of
    /// `others`; none if there is no room.
    pub fn rehome(&mut self, member: u16, others: &[u16]) -> Option<Segment> {
        let set = self
            .sets
            .iter()
            .find(|&&(first, size)| (first..first + size).contains(&member));
        let &(first, size) = set?;
        let emptiest = (first..first + size)
            .filter(|disk| !others.contains(disk))
            .min_by_key(|&disk| self.allocated[usize::from(disk)])?;
        self.allocate(emptiest)
    }

    /// The storage set that is filled least.
    fn emptiest_set(&self) -> usize {
        let filled = |set: usize| {
            let (first, size) = self.sets[set];
            let members = usize::from(first)..usize::from(first + size);
            let allocated: u64 = self.allocated[members].iter().sum();
            // Compared per disk, in whole numbers.
            allocated * 1000 / u64::from(size)
        };
        (0..self.sets.len())
            .min_by_key(|&set| filled(set))
            .unwrap_or(0)
    }

    /// Members of a store in a set: those filled least, in turn when equal.
    fn members_of_store(&self, vraid: Vraid, set: usize, store: u64) -> Vec<u16> {
        let (first, size) = self.sets[set];
        if vraid == Vraid::Vraid1 {
            let mut filled = self.allocated.clone();
            let mut members = Vec::new();
            for _ in 0..2 {
                let pair = pairs(first, size).into_iter().min_by_key(|&(a, b)| {
                    let both = filled[usize::from(a)] + filled[usize::from(b)];
                    (both, a, b)
                });
                let Some((a, b)) = pair else {
                    unreachable!("a storage set has pairs");
                };
                filled[usize::from(a)] += 1;
                filled[usize::from(b)] += 1;
                members.extend([a, b]);
            }
            return members;
        }
        let turn = (store % u64::from(size)) as u16;
        let mut members: Vec<u16> = (0..size).map(|at| first + (at + turn) % size).collect();
        members.sort_by_key(|&member| self.allocated[usize::from(member)]);
        members.truncate(vraid.width());
        members
    }

    /// Allocates a virtual disk of at least `sectors` sectors; `None` if it does not fit.
    pub fn create(
        &mut self,
        vraid: Vraid,
        sectors: u64,
        chunk_sectors: u64,
    ) -> Option<VirtualDisk> {
        let rows = self.segment_sectors / chunk_sectors;
        let stores = sectors.div_ceil(vraid.data_segments() * self.segment_sectors);
        if stores.checked_mul(vraid.width() as u64)? > self.free_segments() {
            return None;
        }
        let mut segments = Vec::with_capacity(stores as usize * vraid.width());
        for store in 0..stores {
            let set = self.emptiest_set();
            for member in self.members_of_store(vraid, set, store) {
                segments.push(self.allocate(member)?);
            }
        }
        let (data_columns, protection) = match vraid {
            Vraid::Vraid0 => (1, Protection::None),
            Vraid::Vraid1 => (1, Protection::Copies(2)),
            Vraid::Vraid5 => (4, Protection::Parity(1)),
        };
        let chunks = stores * vraid.data_segments() * rows;
        Some(VirtualDisk {
            vraid,
            geometry: Geometry {
                data_columns,
                protection,
                chunk_sectors,
                stripes: chunks / u64::from(data_columns),
            },
            rows,
            segments,
            domains: self.domains(vraid),
        })
    }

    fn domains(&self, vraid: Vraid) -> Vec<u16> {
        let mut domains = Vec::with_capacity(self.allocated.len());
        for &(first, size) in &self.sets {
            for at in 0..size {
                domains.push(if vraid == Vraid::Vraid1 {
                    // The last pair of an odd set shares its domain with the odd disk.
                    first + (at / 2).min(size / 2 - 1) * 2
                } else {
                    first
                });
            }
        }
        domains
    }
}

/// The pairs of a storage set: neighbours, and of an odd number the last three in a ring.
fn pairs(first: u16, size: u16) -> Vec<(u16, u16)> {
    let mut pairs: Vec<(u16, u16)> = (0..size / 2)
        .map(|pair| (first + 2 * pair, first + 2 * pair + 1))
        .collect();
    if size % 2 == 1 {
        let last = first + size - 1;
        pairs.push((last - 1, last));
        pairs.push((last, last - 2));
    }
    pairs
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
