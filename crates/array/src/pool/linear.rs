//! Volumes without pages: each is one run of sectors of one disk group.
//!
//! This is what linear volumes of an MSA, the volumes of a RAID card and the virtual disks of an
//! EVA are to the layers above. Nothing is allocated, moved or copied.

use super::operations::Operations;
use super::request::{Extent, Place, PoolCompletion, PoolRead, PoolWrite};
use super::stripes::StripeBatch;
use crate::group::{GroupCompletion, GroupId, GroupRequest, IoClass};
use crate::group::{Groups, Piece};
use crate::payload::Payload;
use crate::{Direction, VolumeId};

/// Where one volume lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearVolume {
    /// The number of the volume.
    pub volume: VolumeId,
    /// The disk group that it lies in.
    pub group: GroupId,
    /// Where in the group it begins.
    pub first_sector: u64,
    /// Its length in sectors.
    pub sectors: u64,
}

/// Volumes that lie in one disk group each.
#[derive(Debug)]
pub struct LinearPool<P> {
    /// Index is the number of the `VolumeId`; `None` where the volume lies elsewhere.
    volumes: Vec<Option<LinearVolume>>,
    operations: Operations<P>,
    batch: StripeBatch<P>,
}

impl<P: Payload> LinearPool<P> {
    /// A pool of these volumes, which must not overlap.
    pub fn new(volumes: &[LinearVolume]) -> Self {
        let mut by_id = Vec::new();
        for volume in volumes {
            let index = usize::from(volume.volume.0);
            if by_id.len() <= index {
                by_id.resize(index + 1, None);
            }
            assert!(by_id[index].is_none(), "{} is there twice", volume.volume);
            by_id[index] = Some(*volume);
        }
        Self {
            volumes: by_id,
            operations: Operations::new(),
            batch: StripeBatch::new(),
        }
    }

    fn locate(&self, volume: VolumeId, first_sector: u64, sectors: u32) -> (GroupId, u64) {
        match self.volumes.get(usize::from(volume.0)) {
            Some(Some(linear)) => {
                let end = first_sector + u64::from(sectors);
                assert!(end <= linear.sectors, "sector {end} of {volume}");
                (linear.group, linear.first_sector + first_sector)
            }
            _ => panic!("{volume} is not in this pool"),
        }
    }

    /// Where a stretch of a volume lies.
    pub fn map(&self, volume: VolumeId, first_sector: u64, sectors: u32, out: &mut Vec<Extent>) {
        let (group, first_sector) = self.locate(volume, first_sector, sectors);
        let place = Place::Group {
            group,
            first_sector,
        };
        out.push(Extent { place, sectors });
    }

    /// Reads a stretch of a volume.
    pub fn read(&mut self, now_ns: u64, read: PoolRead, groups: &mut impl Groups<P>) {
        let PoolRead { sectors, class, .. } = read;
        let (group, first_sector) = self.locate(read.volume, read.first_sector, sectors);
        let operation = self.operations.begin(read.owner_id, sectors);
        groups.submit(
            now_ns,
            GroupRequest {
                owner: owner(operation),
                group,
                direction: Direction::Read,
                first_sector,
                sectors,
                class,
                payload: P::default(),
            },
        );
    }

    /// Writes pieces of a volume, those of one stripe together.
    pub fn write(
        &mut self,
        now_ns: u64,
        write: PoolWrite,
        pieces: &[Piece<P>],
        groups: &mut impl Groups<P>,
    ) {
        let PoolWrite { volume, class, .. } = write;
        let operation = self.operations.begin(write.owner_id, 0);
        let mut batch = std::mem::take(&mut self.batch);
        for (first_sector, sectors, payload) in pieces {
            let (group, at) = self.locate(volume, *first_sector, *sectors);
            let stripe_sectors = groups.stripe_sectors(group);
            let mut done = 0;
            while done < *sectors {
                let sector = at + u64::from(done);
                let length = batch.fitting(sector, *sectors - done, stripe_sectors);
                if !batch.takes(group, sector, stripe_sectors) {
                    self.flush(now_ns, operation, class, &mut batch, groups);
                    batch.begin(group, sector, stripe_sectors);
                }
                batch.push(sector, length, payload.part(done, length));
                done += length;
            }
        }
        self.flush(now_ns, operation, class, &mut batch, groups);
        self.batch = batch;
        self.operations.part_done(operation, Ok(()));
    }

    fn flush(
        &mut self,
        now_ns: u64,
        operation: u32,
        class: IoClass,
        batch: &mut StripeBatch<P>,
        groups: &mut impl Groups<P>,
    ) {
        if let Some((group, pieces)) = batch.pieces() {
            self.operations.add_part(operation);
            groups.submit_stripe_write(now_ns, owner(operation), group, class, pieces);
            batch.clear();
        }
    }

    /// A group request of this pool is done.
    pub fn backend_done(&mut self, completion: GroupCompletion<P>) {
        let operation = completion.owner;
        match (completion.result, completion.direction) {
            (Ok(()), Direction::Read) => {
                self.operations.whole_read(operation, completion.payload);
            }
            (result, _) => {
                let result = result.map_err(Into::into);
                self.operations.part_done(operation, result);
            }
        }
    }

    /// The next completion nobody has fetched.
    pub fn pop_done(&mut self) -> Option<PoolCompletion<P>> {
        self.operations.pop_done()
    }

    /// Reads and writes that are not complete.
    pub fn in_flight(&self) -> usize {
        self.operations.in_flight()
    }
}

fn owner(id: u32) -> u32 {
    id
}
