//! What clients can ask for by name.

use super::wire::{export_flag, info};

/// Requests of any alignment are served, as a file serves them.
const SMALLEST_BLOCK_BYTES: u32 = 1;
/// What is not of whole blocks of this size may cost a read before a write.
const PREFERRED_BLOCK_BYTES: u32 = 4096;
/// A read or write has so many bytes at most, which is also what clients assume that do not ask.
pub const MOST_REQUEST_BYTES: u32 = 32 << 20;

/// A volume as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// Its capacity in bytes.
    pub size_bytes: u64,
    /// What it is, for people.
    pub description: String,
}

impl Export {
    /// Its flags. A flush makes everything durable that was acknowledged before, by whatever connection, so a
    /// client may use several.
    pub(super) fn flags(structured: bool) -> u16 {
        let flags = export_flag::HAS_FLAGS
            | export_flag::SEND_FLUSH
            | export_flag::SEND_FUA
            | export_flag::SEND_TRIM
            | export_flag::SEND_WRITE_ZEROES
            | export_flag::CAN_MULTI_CONN
            | export_flag::SEND_FAST_ZERO;
        match structured {
            true => flags | export_flag::SEND_DF,
            false => flags,
        }
    }

    /// Size and flags.
    pub(super) fn size_and_flags(&self, structured: bool) -> Vec<u8> {
        let mut bytes = self.size_bytes.to_be_bytes().to_vec();
        bytes.extend(Self::flags(structured).to_be_bytes());
        bytes
    }

    /// An information on it; `None` for one that there is not.
    pub(super) fn info(&self, kind: u16, structured: bool) -> Option<Vec<u8>> {
        let contents = match kind {
            info::EXPORT => self.size_and_flags(structured),
            info::NAME => self.name.clone().into_bytes(),
            info::DESCRIPTION => self.description.clone().into_bytes(),
            info::BLOCK_SIZE => [
                SMALLEST_BLOCK_BYTES,
                PREFERRED_BLOCK_BYTES,
                MOST_REQUEST_BYTES,
            ]
            .iter()
            .flat_map(|bytes| bytes.to_be_bytes())
            .collect(),
            _ => return None,
        };
        Some([&kind.to_be_bytes()[..], &contents].concat())
    }
}

/// Finds an export. The empty name is that of the only one.
pub(super) fn position(exports: &[Export], name: &[u8]) -> Option<usize> {
    if name.is_empty() && exports.len() == 1 {
        return Some(0);
    }
    exports
        .iter()
        .position(|export| export.name.as_bytes() == name)
}
