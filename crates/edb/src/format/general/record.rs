//! Where the values of a record lie.

use crate::format::page::is_small;
use crate::format::record::RecordError;

const HEAD_BYTES: usize = 4;
/// Number of the first variable column.
const FIRST_VARIABLE: u16 = 128;
/// Of the end of a variable value: it is NULL.
const VARIABLE_NULL: usize = 0x8000;
/// Bytes of a tagged value's column number and offset.
const TAGGED_ENTRY_BYTES: usize = 4;
/// Of a tagged offset: the column comes from the table's template.
const FROM_TEMPLATE: usize = 0x8000;
/// Of a tagged offset on small pages: the value has a flag byte; it is NULL.
const SMALL_HAS_FLAGS: usize = 0x4000;
const SMALL_NULL: usize = 0x2000;
/// Of an offset in an array of values: this one lies in the long value tree.
const ONE_SEPARATED: usize = 0x8000;

mod flag {
    pub const COMPRESSED: u8 = 0x02;
    pub const SEPARATED: u8 = 0x04;
    pub const MULTIPLE: u8 = 0x08;
    pub const TWO_VALUES: u8 = 0x10;
    pub const NULL: u8 = 0x20;
    pub const ENCRYPTED: u8 = 0x40;
}

/// One value, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'r> {
    /// The value, or the number of a long value.
    pub bytes: &'r [u8],
    /// Whether the bytes are the number of a long value.
    pub separated: bool,
    /// Whether they have to be expanded.
    pub compressed: bool,
    /// Whether they cannot be read without a key that is not in the file.
    pub encrypted: bool,
}

/// What a record holds for a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored<'r> {
    /// Nothing: the column has its default value, or NULL if it has no default.
    Absent,
    /// The column is NULL.
    Null,
    /// The column has one value.
    One(Part<'r>),
    /// The values of a column that may have several.
    Many(Vec<Part<'r>>),
}

fn plain(bytes: &[u8]) -> Stored<'_> {
    Stored::One(Part {
        bytes,
        separated: false,
        compressed: false,
        encrypted: false,
    })
}

/// A record whose parts have been found.
#[derive(Debug, Clone, Copy)]
pub struct GeneralRecord<'r> {
    bytes: &'r [u8],
    small_pages: bool,
    /// Number of the last fixed column in the record.
    fixed: u16,
    fixed_end: usize,
    /// Variable columns in the record.
    variable: usize,
    tagged_start: usize,
    /// Tagged values in the record.
    tagged: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let pair = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(pair)))
}

impl<'r> GeneralRecord<'r> {
    /// Reads a record of a page of this size.
    ///
    /// # Errors
    /// If its offsets contradict each other or its length.
    pub fn new(bytes: &'r [u8], page_size_bytes: usize) -> Result<Self, RecordError> {
        let damaged = |part| RecordError::Damaged { part };
        let mut record =
            Self::columns(bytes, page_size_bytes).ok_or_else(|| damaged("fixed columns"))?;
        record.tagged_start = record
            .variable_end()
            .ok_or_else(|| damaged("variable columns"))?;
        record.tagged = record
            .tagged_count()
            .ok_or_else(|| damaged("tagged columns"))?;
        Ok(record)
    }

    fn columns(bytes: &'r [u8], page_size_bytes: usize) -> Option<Self> {
        let fixed = u16::from(*bytes.first()?);
        let variable = usize::from((u16::from(*bytes.get(1)?) + 1).checked_sub(FIRST_VARIABLE)?);
        let fixed_end = u16_at(bytes, 2)?;
        let null_map = usize::from(fixed).div_ceil(8);
        let fits = fixed < FIRST_VARIABLE && fixed_end >= HEAD_BYTES + null_map;
        (fits && fixed_end <= bytes.len()).then_some(Self {
            bytes,
            small_pages: is_small(page_size_bytes),
            fixed,
            fixed_end,
            variable,
            tagged_start: 0,
            tagged: 0,
        })
    }

    /// Where the variable values end, if each of them ends behind the one before.
    fn variable_end(&self) -> Option<usize> {
        let mut before = 0;
        for index in 0..self.variable {
            let end = u16_at(self.bytes, self.fixed_end + 2 * index)? & !VARIABLE_NULL;
            if end < before {
                return None;
            }
            before = end;
        }
        let end = self.fixed_end + 2 * self.variable + before;
        (end <= self.bytes.len()).then_some(end)
    }

    /// Number of tagged values, if each of them ends behind the one before.
    fn tagged_count(&self) -> Option<usize> {
        let part = self.tagged_part();
        if part.is_empty() {
            return Some(0);
        }
        let first = self.tagged_offset(0)?;
        let count = first / TAGGED_ENTRY_BYTES;
        if count == 0 || !first.is_multiple_of(TAGGED_ENTRY_BYTES) || first > part.len() {
            return None;
        }
        let mut before = first;
        for entry in 1..count {
            let offset = self.tagged_offset(entry)?;
            if offset < before || offset > part.len() {
                return None;
            }
            before = offset;
        }
        Some(count)
    }

    fn tagged_part(&self) -> &'r [u8] {
        self.bytes.get(self.tagged_start..).unwrap_or_default()
    }

    /// The second word of an entry: offset and what small pages say beside it.
    fn tagged_word(&self, entry: usize) -> Option<usize> {
        u16_at(self.tagged_part(), TAGGED_ENTRY_BYTES * entry + 2)
    }

    fn tagged_offset(&self, entry: usize) -> Option<usize> {
        let mask = if self.small_pages { 0x1FFF } else { 0x7FFF };
        Some(self.tagged_word(entry)? & mask)
    }

    /// The fixed column with this number, `size_bytes` long from `offset` on.
    ///
    /// # Errors
    /// If it would lie outside the fixed part.
    pub fn fixed(
        &self,
        id: u16,
        offset: usize,
        size_bytes: usize,
    ) -> Result<Stored<'r>, RecordError> {
        if id == 0 || id > self.fixed {
            return Ok(Stored::Absent);
        }
        let damaged = RecordError::Damaged {
            part: "fixed columns",
        };
        let null_map = self.fixed_end - usize::from(self.fixed).div_ceil(8);
        let bit = usize::from(id - 1);
        let byte = self.bytes.get(null_map + bit / 8);
        if byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1) {
            return Ok(Stored::Null);
        }
        let end = offset.checked_add(size_bytes);
        match end.filter(|&end| offset >= HEAD_BYTES && end <= null_map) {
            Some(end) => Ok(plain(&self.bytes[offset..end])),
            None => Err(damaged),
        }
    }

    /// The variable column with this number.
    ///
    /// # Panics
    /// If it is no variable column's.
    #[must_use]
    pub fn variable(&self, id: u16) -> Stored<'r> {
        assert!((FIRST_VARIABLE..256).contains(&id), "no variable column");
        let index = usize::from(id - FIRST_VARIABLE);
        let stated = |index| u16_at(self.bytes, self.fixed_end + 2 * index);
        let Some(own) = stated(index).filter(|_| index < self.variable) else {
            return Stored::Absent;
        };
        if own & VARIABLE_NULL != 0 {
            return Stored::Null;
        }
        let before = index.checked_sub(1).and_then(stated).unwrap_or(0);
        let data = self.fixed_end + 2 * self.variable;
        let value = data + (before & !VARIABLE_NULL)..data + own;
        plain(self.bytes.get(value).unwrap_or_default())
    }

    /// The tagged column with this number, of the table itself or of its template.
    ///
    /// # Errors
    /// If the value contradicts itself.
    pub fn tagged(&self, id: u16, from_template: bool) -> Result<Stored<'r>, RecordError> {
        let wanted = |entry: &usize| {
            let stated = u16_at(self.tagged_part(), TAGGED_ENTRY_BYTES * entry);
            let word = self.tagged_word(*entry).unwrap_or(0);
            stated == Some(usize::from(id)) && (word & FROM_TEMPLATE != 0) == from_template
        };
        match (0..self.tagged).find(wanted) {
            Some(entry) => self.tagged_entry(entry),
            None => Ok(Stored::Absent),
        }
    }

    /// All tagged values.
    ///
    /// # Errors
    /// If a value contradicts itself.
    pub fn all_tagged(&self) -> Result<Vec<Stored<'r>>, RecordError> {
        (0..self.tagged)
            .map(|entry| self.tagged_entry(entry))
            .collect()
    }

    fn tagged_entry(&self, entry: usize) -> Result<Stored<'r>, RecordError> {
        self.tagged_value(entry).ok_or(RecordError::Damaged {
            part: "tagged columns",
        })
    }

    fn tagged_value(&self, entry: usize) -> Option<Stored<'r>> {
        let part = self.tagged_part();
        let end = if entry + 1 < self.tagged {
            self.tagged_offset(entry + 1)?
        } else {
            part.len()
        };
        let value = part.get(self.tagged_offset(entry)?..end)?;
        let word = self.tagged_word(entry)?;
        if self.small_pages && word & SMALL_NULL != 0 {
            return Some(Stored::Null);
        }
        if self.small_pages && word & SMALL_HAS_FLAGS == 0 {
            return Some(plain(value));
        }
        let (&flags, value) = value.split_first()?;
        if flags & flag::NULL != 0 {
            return Some(Stored::Null);
        }
        let one = Part {
            bytes: value,
            separated: flags & flag::SEPARATED != 0,
            compressed: flags & flag::COMPRESSED != 0,
            encrypted: flags & flag::ENCRYPTED != 0,
        };
        if flags & flag::TWO_VALUES != 0 {
            return Some(Stored::Many(two_values(one)?));
        }
        if flags & flag::MULTIPLE != 0 {
            return Some(Stored::Many(many_values(one)?));
        }
        Some(Stored::One(one))
    }
}

/// Two values behind a byte with the length of the first one. Only the first can be compressed.
fn two_values(all: Part<'_>) -> Option<Vec<Part<'_>>> {
    let (&length, values) = all.bytes.split_first()?;
    let (first, second) = values.split_at_checked(usize::from(length))?;
    let first = Part {
        bytes: first,
        ..all
    };
    let second = Part {
        bytes: second,
        compressed: false,
        ..all
    };
    Some(vec![first, second])
}

/// Values behind an array of their offsets. Only the first can be compressed.
fn many_values(all: Part<'_>) -> Option<Vec<Part<'_>>> {
    let word = |index: usize| u16_at(all.bytes, 2 * index);
    let count = (word(0)? & !ONE_SEPARATED) / 2;
    let mut values = Vec::with_capacity(count);
    for index in 0..count {
        let start = word(index)?;
        let end = if index + 1 < count {
            word(index + 1)? & !ONE_SEPARATED
        } else {
            all.bytes.len()
        };
        values.push(Part {
            bytes: all.bytes.get(start & !ONE_SEPARATED..end)?,
            separated: start & ONE_SEPARATED != 0,
            compressed: all.compressed && index == 0,
            encrypted: all.encrypted,
        });
    }
    (count > 0).then_some(values)
}
