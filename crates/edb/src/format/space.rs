//! Space management: the space header of a tree's root and the extent trees.
//!
//! Each tree with more than one extent has two small trees of its own: owned extents (OE) and
//! available extents (AE); the root of AE is always the page after the root of OE.

/// Bytes of a space header; also of the zeroed external header of an OE or AE root.
pub const SPACE_HEADER_BYTES: usize = 16;

/// How a tree manages its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceKind {
    /// One run of at most 33 pages; bit `i` of the map: page root + 1 + i is free.
    Single {
        /// Map of free pages.
        free_map: u32,
    },
    /// Any number of extents, listed in two trees: owned ones and available ones.
    Multiple {
        /// Root of the owned extents; the available extents are rooted one page later.
        owned_root: u32,
    },
}

/// Tag 0 of the root of every tree but the extent trees themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceHeader {
    /// Pages of the first extent.
    pub primary_pages: u32,
    /// Root of the tree that gives this one its space: 1 for tables, the table's root for its
    /// indexes and long values, 0 for the database root.
    pub parent_root: u32,
    /// Whether equal keys are allowed in the tree.
    pub non_unique: bool,
    /// One extent or many.
    pub kind: SpaceKind,
}

const FLAG_MULTIPLE: u32 = 1;
const FLAG_NON_UNIQUE: u32 = 2;

impl SpaceHeader {
    /// Bytes of the external header.
    #[must_use]
    pub fn encode(self) -> [u8; SPACE_HEADER_BYTES] {
        let (multiple, last) = match self.kind {
            SpaceKind::Single { free_map } => (0, free_map),
            SpaceKind::Multiple { owned_root } => (FLAG_MULTIPLE, owned_root),
        };
        let flags = multiple | if self.non_unique { FLAG_NON_UNIQUE } else { 0 };
        let mut bytes = [0; SPACE_HEADER_BYTES];
        for (i, word) in [self.primary_pages, self.parent_root, flags, last]
            .iter()
            .enumerate()
        {
            bytes[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads an external header; `None` if it is no space header.
    ///
    /// Later versions of the format put a byte before it that says what there is: bit 0 a space
    /// header, bit 1 eight bytes behind it with the last number given to a row.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = match bytes {
            [1, header @ ..] | header if header.len() == SPACE_HEADER_BYTES => header,
            [3, header @ ..] if header.len() == SPACE_HEADER_BYTES + 8 => header,
            _ => return None,
        };
        let word = |i: usize| {
            u32::from_le_bytes([
                bytes[4 * i],
                bytes[4 * i + 1],
                bytes[4 * i + 2],
                bytes[4 * i + 3],
            ])
        };
        let flags = word(2);
        if flags & !7 != 0 {
            return None;
        }
        let kind = if flags & FLAG_MULTIPLE != 0 {
            SpaceKind::Multiple {
                owned_root: word(3),
            }
        } else {
            SpaceKind::Single { free_map: word(3) }
        };
        let non_unique = flags & FLAG_NON_UNIQUE != 0;
        Some(Self {
            primary_pages: word(0),
            parent_root: word(1),
            non_unique,
            kind,
        })
    }
}

/// A run of pages, as an OE or AE node holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Number of its last page, which is the key of the node.
    pub last: u32,
    /// Length in pages, at least 1.
    pub pages: u32,
}

impl Extent {
    /// The extent from `first` on.
    ///
    /// # Panics
    /// If it is empty.
    #[must_use]
    pub fn from_first(first: u32, pages: u32) -> Self {
        assert!(pages > 0 && first > 0);
        Self {
            last: first + pages - 1,
            pages,
        }
    }

    /// Number of its first page.
    #[must_use]
    pub fn first(self) -> u32 {
        self.last + 1 - self.pages
    }

    /// Whether a page belongs to it.
    #[must_use]
    pub fn contains(self, page: u32) -> bool {
        (self.first()..=self.last).contains(&page)
    }

    /// Key of the node: the last page, big-endian.
    #[must_use]
    pub fn key(self) -> [u8; 4] {
        self.last.to_be_bytes()
    }

    /// Data of the node: the number of pages.
    #[must_use]
    pub fn data(self) -> [u8; 4] {
        self.pages.to_le_bytes()
    }

    /// Reads a node; `None` if it is not an extent (or an empty one, or one that would start before
    /// page 1).
    #[must_use]
    pub fn decode(key: &[u8], data: &[u8]) -> Option<Self> {
        let last = u32::from_be_bytes(key.try_into().ok()?);
        let pages = u32::from_le_bytes(data.try_into().ok()?);
        (pages > 0 && last >= pages).then_some(Self { last, pages })
    }
}

/// Groups ascending page numbers: pages that follow each other become one extent.
#[must_use]
pub fn extents_of(pages: impl IntoIterator<Item = u32>) -> Vec<Extent> {
    let mut extents: Vec<Extent> = Vec::new();
    for page in pages {
        match extents.last_mut() {
            Some(extent) if extent.last + 1 == page => {
                *extent = Extent {
                    last: page,
                    pages: extent.pages + 1,
                };
            }
            _ => extents.push(Extent {
                last: page,
                pages: 1,
            }),
        }
    }
    extents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_headers_come_back() {
        let kinds = [
            SpaceKind::Single { free_map: 0xFFFE },
            SpaceKind::Multiple { owned_root: 32 },
        ];
        for kind in kinds {
            for non_unique in [false, true] {
                let header = SpaceHeader {
                    primary_pages: 20,
                    parent_root: 1,
                    non_unique,
                    kind,
                };
                assert_eq!(SpaceHeader::decode(&header.encode()), Some(header));
            }
        }
        assert_eq!(SpaceHeader::decode(&[0; 25]), None);
        // With a number for rows, as Windows 10 writes it.
        let mut with_number = [0; 25];
        with_number[0] = 3;
        let header = SpaceHeader {
            primary_pages: 1,
            parent_root: 1,
            non_unique: false,
            kind: SpaceKind::Multiple { owned_root: 67 },
        };
        with_number[1..17].copy_from_slice(&header.encode());
        assert_eq!(SpaceHeader::decode(&with_number), Some(header));
        with_number[0] = 1;
        assert_eq!(SpaceHeader::decode(&with_number), None);
        assert_eq!(SpaceHeader::decode(&with_number[..17]), Some(header));
    }

    #[test]
    fn extents_come_back() {
        let extent = Extent::from_first(4, 20);
        assert_eq!((extent.first(), extent.last), (4, 23));
        assert_eq!(Extent::decode(&extent.key(), &extent.data()), Some(extent));
        assert_eq!(Extent::decode(&[0, 0, 0, 3], &[4, 0, 0, 0]), None);
        assert!(extent.contains(4) && extent.contains(23) && !extent.contains(24));
    }
}
