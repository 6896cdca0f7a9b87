//! Checksums of the sectors of disks, each disk's in a file of its own.
//!
//! A sector of zeros has the checksum 0, so that what was never written, or was given back, needs none.

use array::SECTOR_BYTES;

/// The directory of the files.
pub(super) const DIRECTORY: &str = "checksums";
/// Bytes of a checksum.
pub(super) const BYTES: u64 = 4;
/// The CRC-32 of a sector of zeros.
const OF_ZEROS: u32 = crc_of_zeros();

/// The CRC-32 of a sector of zeros, bit by bit.
const fn crc_of_zeros() -> u32 {
    let mut crc = u32::MAX;
    let mut bits = 0;
    while bits < SECTOR_BYTES * 8 {
        crc = if crc & 1 == 1 {
            (crc >> 1) ^ 0xEDB8_8320
        } else {
            crc >> 1
        };
        bits += 1;
    }
    !crc
}

/// The name of the file with the checksums of a disk, by the name of the disk's file.
pub(super) fn file_of(disk: &str) -> String {
    let name = disk.rsplit('/').next().unwrap_or(disk);
    format!("{DIRECTORY}/{name}")
}

/// The name of the disk's file, by that of its checksums or its own.
pub(super) fn disk_of(file: &str) -> String {
    match file.strip_prefix("checksums/") {
        Some(name) => format!("disks/{name}"),
        None => file.to_owned(),
    }
}

/// The checksums of sectors.
pub(super) fn of(bytes: &[u8]) -> Vec<u8> {
    let sectors = bytes.chunks(SECTOR_BYTES as usize);
    sectors
        .flat_map(|sector| (crc32fast::hash(sector) ^ OF_ZEROS).to_le_bytes())
        .collect()
}

/// The numbers of the sectors whose checksums differ.
pub(super) fn differing(found: &[u8], kept: &[u8]) -> impl Iterator<Item = u64> {
    let pairs = found
        .chunks(BYTES as usize)
        .zip(kept.chunks(BYTES as usize));
    let pairs = (0..).zip(pairs);
    pairs.filter_map(|(sector, (found, kept))| (found != kept).then_some(sector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_have_none_and_a_changed_bit_is_found() {
        let mut bytes = vec![0; 4 * SECTOR_BYTES as usize];
        let none = vec![0; 4 * BYTES as usize];
        assert_eq!(of(&bytes), none);
        bytes[1030] = 7;
        let kept = of(&bytes);
        assert_eq!(differing(&kept, &none).collect::<Vec<_>>(), [2]);
        bytes[1030] = 6;
        assert_eq!(differing(&of(&bytes), &kept).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_disk_and_its_checksums_know_each_other() {
        assert_eq!(file_of("disks/a-disks-3"), "checksums/a-disks-3");
        assert_eq!(disk_of("checksums/a-disks-3"), "disks/a-disks-3");
        assert_eq!(disk_of("disks/a-disks-3"), "disks/a-disks-3");
    }
}
