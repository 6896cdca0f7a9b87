//! Computing redundancy, and lost columns from what is left.
//!
//! With data columns d0, d1, ...: P is the sum of all d, Q the sum of all 2^i di, over GF(2^8).
//! Any two lost columns follow from the rest. For two lost data columns x and y, with the sums
//! P' and Q' of what is missing from P and Q: dx = (2^y P' + Q') / (2^x + 2^y), dy = P' + dx.

use crate::payload::{Payload, galois};

use super::{Geometry, Protection};

/// A set of columns of a stripe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Columns(u64);

impl Columns {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[inline]
    pub fn count(self) -> u16 {
        self.0.count_ones() as u16
    }

    /// Whether `column` is one of them.
    #[inline]
    pub fn has(self, column: u16) -> bool {
        self.0 >> column & 1 == 1
    }

    /// Adds a column to the set.
    #[inline]
    pub fn add(&mut self, column: u16) {
        self.0 |= 1 << column;
    }

    /// Takes a column out.
    #[inline]
    pub fn remove(&mut self, column: u16) {
        self.0 &= !(1 << column);
    }

    /// The columns in order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u16> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let column = left.trailing_zeros();
                left &= left - 1;
                column as u16
            })
        })
    }
}

impl FromIterator<u16> for Columns {
    fn from_iter<I: IntoIterator<Item = u16>>(columns: I) -> Self {
        let mut set = Self::default();
        for column in columns {
            set.add(column);
        }
        set
    }
}

/// The factor of a data column in parity column `parity` (0 is P, 1 is Q).
#[inline]
pub fn coefficient(parity: u16, column: u16) -> u8 {
    if parity == 0 {
        1
    } else {
        galois::power(usize::from(column))
    }
}

/// Sum over the data columns outside `without` of their part in a parity.
fn parity_of<P: Payload>(data: &[P], parity: u16, without: Columns, sectors: u32) -> P {
    let mut sum = P::zeroed(sectors);
    for (column, payload) in data.iter().enumerate() {
        let column = column as u16;
        if !without.has(column) {
            sum.multiply_add(coefficient(parity, column), payload);
        }
    }
    sum
}

/// Computes the columns in `lost` from the others, all `sectors` long, in place. Returns whether
/// that was possible; if not, nothing is changed. `columns` holds a payload for every column of
/// the stripe; those lost may hold anything.
pub fn recover<P: Payload>(
    geometry: &Geometry,
    columns: &mut [P],
    lost: Columns,
    sectors: u32,
) -> bool {
    debug_assert_eq!(columns.len(), usize::from(geometry.columns()));
    if lost.count() > geometry.tolerance() {
        return false;
    }
    if lost.is_empty() || !P::CARRIES_BYTES {
        return true;
    }
    match geometry.protection {
        Protection::None => {}
        Protection::Copies(copies) => {
            if let Some(source) = (0..copies).find(|&copy| !lost.has(copy)) {
                let payload = columns[usize::from(source)].clone();
                for copy in lost.iter() {
                    columns[usize::from(copy)] = payload.clone();
                }
            }
        }
        Protection::Parity(_) => recover_with_parity(geometry, columns, lost, sectors),
    }
    true
}

fn recover_with_parity<P: Payload>(
    geometry: &Geometry,
    columns: &mut [P],
    lost: Columns,
    sectors: u32,
) {
    let data_columns = geometry.data_columns;
    let (data, parities) = columns.split_at_mut(usize::from(data_columns));
    let lost_data: Columns = lost
        .iter()
        .filter(|&column| column < data_columns)
        .collect();
    let missing_from = |data: &[P], parity: u16| {
        let mut sum = parity_of(data, parity, lost_data, sectors);
        sum.xor_with(&parities[usize::from(parity)]);
        sum
    };
    let mut names = lost_data.iter();
    match (names.next(), names.next()) {
        (Some(x), None) => {
            let parity = u16::from(lost.has(data_columns));
            let mut found = missing_from(data, parity);
            found.multiply(galois::inverse(coefficient(parity, x)));
            data[usize::from(x)] = found;
        }
        (Some(x), Some(y)) => {
            let p = missing_from(data, 0);
            let mut found = missing_from(data, 1);
            found.multiply_add(coefficient(1, y), &p);
            found.multiply(galois::inverse(coefficient(1, x) ^ coefficient(1, y)));
            let mut other = p;
            other.xor_with(&found);
            data[usize::from(x)] = found;
            data[usize::from(y)] = other;
        }
        (None, _) => {}
    }
    for (parity, payload) in parities.iter_mut().enumerate() {
        let parity = parity as u16;
        if lost.has(data_columns + parity) {
            *payload = parity_of(data, parity, Columns::default(), sectors);
        }
    }
}

/// What the redundancy of one sector of a stripe says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The redundancy agrees with the data.
    Sound,
    /// This one column disagrees with all others.
    Wrong(u16),
    /// More than one column is wrong, or it is unknown which.
    Unclear,
}

/// Compares the columns of one sector. P and Q together show which single column is wrong; with P
/// alone or two copies it is unknown which.
pub fn judge(geometry: &Geometry, columns: &[&[u8]]) -> Verdict {
    match geometry.protection {
        Protection::None => Verdict::Sound,
        Protection::Copies(_) => judge_copies(columns),
        Protection::Parity(parities) => judge_parity(geometry.data_columns, parities, columns),
    }
}

fn judge_copies(copies: &[&[u8]]) -> Verdict {
    let votes = |copy: usize| {
        copies
            .iter()
            .filter(|&&other| other == copies[copy])
            .count()
    };
    let best = (0..copies.len()).max_by_key(|&copy| (votes(copy), std::cmp::Reverse(copy)));
    let most = best.map_or(0, votes);
    let odd = (0..copies.len()).find(|&copy| best.is_some_and(|best| copies[copy] != copies[best]));
    match odd {
        None => Verdict::Sound,
        Some(odd) if most + 1 == copies.len() && most >= 2 => Verdict::Wrong(odd as u16),
        Some(_) => Verdict::Unclear,
    }
}

fn judge_parity(data_columns: u16, parities: u16, columns: &[&[u8]]) -> Verdict {
    let mut suspect: Option<u16> = None;
    for at in 0..columns[0].len() {
        let sums = |parity: u16| {
            let stored = columns[usize::from(data_columns + parity)][at];
            let data = columns.iter().take(usize::from(data_columns)).zip(0..);
            data.fold(stored, |sum, (bytes, column)| {
                sum ^ galois::multiply(coefficient(parity, column), bytes[at])
            })
        };
        let p = sums(0);
        let q = if parities > 1 { sums(1) } else { 0 };
        let wrong = match (galois::logarithm(p), galois::logarithm(q)) {
            (None, None) => continue,
            _ if parities == 1 => return Verdict::Unclear,
            (Some(_), None) => data_columns,
            (None, Some(_)) => data_columns + 1,
            (Some(p), Some(q)) => ((q + galois::POWERS - p) % galois::POWERS) as u16,
        };
        let known = wrong < data_columns + 2;
        if !known || suspect.is_some_and(|suspect| suspect != wrong) {
            return Verdict::Unclear;
        }
        // A quotient that names P or Q rather than a data column came from two nonzero sums.
        let from_both = p != 0 && q != 0;
        if from_both && wrong >= data_columns {
            return Verdict::Unclear;
        }
        suspect = Some(wrong);
    }
    suspect.map_or(Verdict::Sound, Verdict::Wrong)
}
