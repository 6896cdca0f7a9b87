//! What the first and last bytes of a block device say about its contents.

use runtime::is_zero;

/// Bytes that are read at each end of a device.
pub const END_BYTES: usize = 1 << 20;

/// How a device begins that Proofload has laid out for its files.
const OURS: &[u8] = b"PROOFLOAD";

/// Well-known marks: where they stand from the start, the bytes, and what they mean.
const MARKS: [(usize, &[u8], &str); 15] = [
    (0, OURS, "databases of Proofload"),
    (0x438, b"\x53\xef", "an ext2, ext3 or ext4 file system"),
    (0, b"XFSB", "an XFS file system"),
    (0x1_0040, b"_BHRfS_M", "a Btrfs file system"),
    (0x400, b"\x10\x20\xf5\xf2", "an F2FS file system"),
    (3, b"NTFS    ", "an NTFS file system"),
    (3, b"EXFAT   ", "an exFAT file system"),
    (3, b"-FVE-FS-", "a BitLocker volume"),
    (0, b"LUKS\xba\xbe", "a LUKS encrypted volume"),
    (0x218, b"LVM2 001", "an LVM physical volume"),
    (
        0x1000,
        b"\xfc\x4e\x2b\xa9",
        "a member of a Linux software RAID",
    ),
    (0xff6, b"SWAPSPACE2", "swap space"),
    (0x200, b"EFI PART", "a GPT partition table"),
    (0x1000, b"EFI PART", "a GPT partition table"),
    (0x1fe, b"\x55\xaa", "a partition table or a boot sector"),
];

/// What the ends of a device hold, as the object of "it holds"; `None` when all bytes are zero.
/// `last` may overlap `first` on a small device.
pub fn contents(first: &[u8], last: &[u8]) -> Option<&'static str> {
    for (at, mark, meaning) in MARKS {
        if first.get(at..at + mark.len()) == Some(mark) {
            return Some(meaning);
        }
    }
    if has_zfs_label(first) || has_zfs_label(last) {
        return Some("a member of a ZFS pool");
    }
    (!is_zero(first) || !is_zero(last)).then_some("data")
}

/// Whether a device with these first bytes holds files of Proofload.
pub fn is_ours(first: &[u8]) -> bool {
    first.starts_with(OURS)
}

/// ZFS keeps a ring of uberblocks from 128 KiB on in each of its labels, in either byte order.
fn has_zfs_label(bytes: &[u8]) -> bool {
    let magic: u64 = 0x00ba_b10c;
    let ring = bytes.get(128 << 10..).unwrap_or_default();
    ring.chunks_exact(1024).any(|block| {
        block.starts_with(&magic.to_le_bytes()) || block.starts_with(&magic.to_be_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_known_by_its_place() {
        for (at, mark, meaning) in MARKS {
            let mut first = vec![0; END_BYTES];
            first[at..at + mark.len()].copy_from_slice(mark);
            assert_eq!(contents(&first, &[]), Some(meaning));
        }
    }

    #[test]
    fn a_single_byte_at_either_end_is_data() {
        let blank = vec![0; END_BYTES];
        assert_eq!(contents(&blank, &blank), None);
        let mut touched = blank.clone();
        touched[END_BYTES - 1] = 1;
        assert_eq!(contents(&blank, &touched), Some("data"));
        assert_eq!(contents(&touched, &blank), Some("data"));
    }

    #[test]
    fn a_zfs_member_is_known_by_its_uberblocks() {
        let mut first = vec![0; END_BYTES];
        first[(128 << 10) + 4096..][..8].copy_from_slice(&0x00ba_b10c_u64.to_le_bytes());
        assert_eq!(contents(&first, &[]), Some("a member of a ZFS pool"));
    }
}
