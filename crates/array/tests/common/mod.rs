//! What the tests of groups share: small disks, and a flat model of what may be stored.
#![allow(dead_code)] // Every test file uses a part of this module.
#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use array::SECTOR_BYTES;
use array::disk::{DiskDescription, DiskModel};
use array::group::{Backend, BackendSettings};
use array::payload::{Bytes, Payload};

/// A disk with `servers` servers and fixed or exponential service times, in place of a real one.
pub fn ideal_disk(
    sectors: u64,
    service_us: f64,
    servers: u32,
    fixed: bool,
    seed: u64,
) -> DiskModel {
    let text = format!(
        "title = 'test'\n[ideal]\ncapacity_bytes = {}\nservice_us = {service_us:?}\n\
         distribution = '{}'\nservers = {servers}\n",
        sectors * SECTOR_BYTES,
        if fixed { "fixed" } else { "exponential" },
    );
    let description: DiskDescription = config::from_toml(&text).unwrap();
    DiskModel::new(&description, seed).unwrap()
}

/// A back end over textbook disks.
pub fn ideal_backend<P: Payload>(
    settings: &str,
    disk_sectors: u64,
    servers: u32,
    seed: u64,
) -> Backend<P> {
    let settings: BackendSettings = config::from_toml(settings).unwrap();
    let disks = (0..settings.disk_names().len() as u64)
        .map(|number| ideal_disk(disk_sectors, 100.0, servers, false, seed ^ (number << 32)))
        .collect();
    Backend::new(&settings, disks).unwrap()
}

/// The contents of a sector that was written by write number `version`; zeros before the first.
pub fn sector_bytes(sector: u64, version: u32) -> [u8; SECTOR_BYTES as usize] {
    let mut bytes = [0; SECTOR_BYTES as usize];
    if version > 0 {
        let mut word = (sector << 32 | u64::from(version)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for chunk in bytes.chunks_exact_mut(8) {
            word = word.rotate_left(7).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ sector;
            chunk.copy_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

/// What write number `version` writes to an extent.
pub fn extent_bytes(first_sector: u64, sectors: u32, version: u32) -> Bytes {
    let bytes = (first_sector..first_sector + u64::from(sectors))
        .flat_map(|sector| sector_bytes(sector, version))
        .collect();
    Bytes::new(bytes)
}

/// A write in flight, as one of its sectors sees it.
#[derive(Debug, Clone)]
struct Flying {
    version: u32,
    /// Versions that were settled while it was in flight.
    beside: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Sector {
    /// What may be stored, given the writes that are done.
    settled: Vec<u32>,
    flying: Vec<Flying>,
}

/// A read in flight: what each of its sectors may return.
#[derive(Debug, Clone)]
pub struct FlatRead {
    first_sector: u64,
    allowed: Vec<Vec<u32>>,
    /// Whether no write met the sector while the read was in flight.
    quiet: Vec<bool>,
}

/// A group as a flat row of sectors, each with the versions it may hold. Writes in flight may be
/// seen or not, sector by sector; of writes in flight together either may come last.
#[derive(Debug, Clone)]
pub struct FlatModel {
    sectors: Vec<Sector>,
}

impl FlatModel {
    pub fn new(capacity: u64) -> Self {
        let blank = Sector {
            settled: vec![0],
            flying: Vec::new(),
        };
        Self {
            sectors: vec![blank; capacity as usize],
        }
    }

    fn range(first_sector: u64, sectors: u32) -> std::ops::Range<usize> {
        first_sector as usize..(first_sector + u64::from(sectors)) as usize
    }

    pub fn write_begins(
        &mut self,
        first_sector: u64,
        sectors: u32,
        version: u32,
        reads: &mut [Option<FlatRead>],
    ) {
        for at in Self::range(first_sector, sectors) {
            self.sectors[at].flying.push(Flying {
                version,
                beside: Vec::new(),
            });
            for read in reads.iter_mut().flatten() {
                let index = (at as u64).wrapping_sub(read.first_sector) as usize;
                if index < read.allowed.len() {
                    read.allowed[index].push(version);
                    read.quiet[index] = false;
                }
            }
        }
    }

    pub fn write_ends(&mut self, first_sector: u64, sectors: u32, version: u32, done: bool) {
        for sector in &mut self.sectors[Self::range(first_sector, sectors)] {
            let position = sector
                .flying
                .iter()
                .position(|flying| flying.version == version)
                .unwrap();
            let ended = sector.flying.remove(position);
            if done {
                sector.settled = ended.beside;
            }
            sector.settled.push(version);
            for flying in &mut sector.flying {
                flying.beside.push(version);
            }
        }
    }

    pub fn read_begins(&self, first_sector: u64, sectors: u32) -> FlatRead {
        let range = &self.sectors[Self::range(first_sector, sectors)];
        let allowed = range.iter().map(|sector| {
            let flying = sector.flying.iter().map(|flying| flying.version);
            sector.settled.iter().copied().chain(flying).collect()
        });
        FlatRead {
            first_sector,
            allowed: allowed.collect(),
            quiet: range
                .iter()
                .map(|sector| sector.flying.is_empty())
                .collect(),
        }
    }

    /// Compares what was read. A sector that was read while nothing wrote it must stay as it is.
    pub fn read_ends(&mut self, read: &FlatRead, payload: &Bytes) -> Result<(), String> {
        let bytes = payload.as_slice();
        if bytes.len() != read.allowed.len() * SECTOR_BYTES as usize {
            return Err(format!("{} bytes were read", bytes.len()));
        }
        for (index, stored) in bytes.chunks_exact(SECTOR_BYTES as usize).enumerate() {
            let at = read.first_sector + index as u64;
            let version = read.allowed[index]
                .iter()
                .rev()
                .find(|&&version| sector_bytes(at, version) == stored);
            let Some(&version) = version else {
                return Err(format!(
                    "sector {at} holds none of the versions {:?} but {:02x?}",
                    read.allowed[index],
                    &stored[..8]
                ));
            };
            let sector = &mut self.sectors[at as usize];
            if read.quiet[index] && sector.flying.is_empty() {
                sector.settled = vec![version];
            }
        }
        Ok(())
    }
}
