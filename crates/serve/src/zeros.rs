//! Stretches that are to read as zeros.

use array::payload::{Bytes, Payload as _};
use array::{HostError, HostOperation, SECTOR_BYTES, VolumeId};

use crate::client::Client;
use crate::volume::ServedVolume;

/// Zeros that are written at once.
const MOST_WRITTEN_SECTORS: u64 = (1 << 20) / SECTOR_BYTES;
/// What is given back at once: a number of pages of any size.
const MOST_TRIMMED_SECTORS: u64 = 1 << 31;

/// How a stretch becomes zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zeros {
    /// Pages are given back where that is possible; other sectors are written.
    Anyhow,
    /// All are written, so that they keep their space.
    WithSpace,
    /// Pages are given back. Where that is not all, nothing is done.
    ByPagesOnly,
}

/// Why a stretch does not read as zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZerosError {
    /// Sectors would have to be written.
    NotByPages,
    /// As the array says.
    Array(HostError),
}

/// Gets the end. It runs on the thread of the model or on the caller's, and must not wait.
pub(crate) type ZerosAnswer = Box<dyn FnOnce(Result<(), ZerosError>) + Send>;

impl Client {
    /// Has a stretch of bytes read as zeros. Waits for parts of sectors at its ends, and for nothing else.
    pub(crate) fn write_zeros(
        &self,
        volume: &ServedVolume,
        (offset, length): (u64, u64),
        how: Zeros,
        answer: ZerosAnswer,
    ) {
        let first_sector = offset.div_ceil(SECTOR_BYTES);
        let end_sector = ((offset + length) / SECTOR_BYTES).max(first_sector);
        let whole = (first_sector * SECTOR_BYTES, end_sector * SECTOR_BYTES);
        let is_exact = whole == (offset, offset + length);
        if how == Zeros::ByPagesOnly && !is_exact {
            return answer(Err(ZerosError::NotByPages));
        }
        for (from, to) in parts_of_sectors((offset, offset + length), whole) {
            let zeros = vec![0; (to - from) as usize];
            if let Err(error) = self.write_unaligned(volume, from, &zeros) {
                return answer(Err(ZerosError::Array(error)));
            }
        }
        let client = self.clone();
        let id = volume.id;
        self.inspect(Box::new(move |array| {
            let page_sectors = array.page_sectors(id).filter(|_| how != Zeros::WithSpace);
            let steps = steps((first_sector, end_sector), page_sectors);
            if how == Zeros::ByPagesOnly && steps.iter().any(Step::writes) {
                return answer(Err(ZerosError::NotByPages));
            }
            let work = Work {
                client,
                volume: id,
                steps,
                answer,
            };
            work.go_on();
        }));
    }
}

/// The parts of a stretch of bytes that lie before and behind its whole sectors.
fn parts_of_sectors((from, to): (u64, u64), whole: (u64, u64)) -> Vec<(u64, u64)> {
    let parts = match whole.0 < whole.1 {
        true => vec![(from, whole.0), (whole.1, to)],
        false => vec![(from, to)],
    };
    parts.into_iter().filter(|(from, to)| from < to).collect()
}

/// Sectors with which one thing is done.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    operation: HostOperation,
    first_sector: u64,
    end_sector: u64,
}

impl Step {
    fn writes(&self) -> bool {
        self.operation == HostOperation::Write
    }

    /// Takes the sectors of the next request out of it.
    fn take(&mut self) -> Option<(u64, u32)> {
        let most = match self.writes() {
            true => MOST_WRITTEN_SECTORS,
            false => MOST_TRIMMED_SECTORS,
        };
        let (first_sector, sectors) = (
            self.first_sector,
            most.min(self.end_sector - self.first_sector),
        );
        self.first_sector += sectors;
        (sectors > 0).then_some((first_sector, sectors as u32))
    }
}

/// What is to be done with whole sectors, the last step first: pages of this size are given back.
fn steps((first_sector, end_sector): (u64, u64), page_sectors: Option<u64>) -> Vec<Step> {
    let (first_page, end_pages) = match page_sectors {
        Some(page) => (
            first_sector.next_multiple_of(page),
            end_sector / page * page,
        ),
        None => (end_sector, end_sector),
    };
    let pages = match first_page < end_pages {
        true => (first_page, end_pages),
        false => (end_sector, end_sector),
    };
    let steps = [
        (HostOperation::Write, pages.1, end_sector),
        (HostOperation::Trim, pages.0, pages.1),
        (HostOperation::Write, first_sector, pages.0),
    ];
    let steps = steps.map(|(operation, first_sector, end_sector)| Step {
        operation,
        first_sector,
        end_sector,
    });
    let steps = steps.into_iter();
    steps
        .filter(|step| step.first_sector < step.end_sector)
        .collect()
}

/// Steps that are carried out one request after the other, by the answer of each.
struct Work {
    client: Client,
    volume: VolumeId,
    steps: Vec<Step>,
    answer: ZerosAnswer,
}

impl Work {
    fn go_on(mut self) {
        let next = loop {
            let Some(step) = self.steps.last_mut() else {
                return (self.answer)(Ok(()));
            };
            match step.take() {
                Some(extent) => break (step.operation, extent),
                None => drop(self.steps.pop()),
            }
        };
        let (operation, extent) = next;
        let payload = match operation {
            HostOperation::Write => Bytes::zeroed(extent.1),
            _ => Bytes::default(),
        };
        let (client, volume) = (self.client.clone(), self.volume);
        let answer = move |end: Result<Bytes, HostError>| match end {
            Ok(_) => self.go_on(),
            Err(error) => (self.answer)(Err(ZerosError::Array(error))),
        };
        client.submit(volume, operation, extent, payload, Box::new(answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_given_back_and_what_is_around_them_is_written() {
        let step = |operation, first_sector, end_sector| Step {
            operation,
            first_sector,
            end_sector,
        };
        let (write, trim) = (HostOperation::Write, HostOperation::Trim);
        let all = [step(write, 48, 50), step(trim, 16, 48), step(write, 3, 16)];
        assert_eq!(steps((3, 50), Some(16)), all);
        assert_eq!(steps((16, 48), Some(16)), [step(trim, 16, 48)]);
        assert_eq!(steps((17, 47), Some(16)), [step(write, 17, 47)]);
        assert_eq!(steps((1, 15), Some(16)), [step(write, 1, 15)]);
        assert_eq!(steps((16, 48), None), [step(write, 16, 48)]);
        assert_eq!(steps((16, 16), Some(16)), []);
    }

    #[test]
    fn long_steps_are_done_in_parts() {
        let mut step = steps((0, 5000), None).remove(0);
        let parts: Vec<_> = std::iter::from_fn(|| step.take()).collect();
        assert_eq!(parts, [(0, 2048), (2048, 2048), (4096, 904)]);
    }

    #[test]
    fn parts_of_sectors_are_apart() {
        assert_eq!(parts_of_sectors((0, 1024), (0, 1024)), []);
        assert_eq!(
            parts_of_sectors((10, 1030), (512, 1024)),
            [(10, 512), (1024, 1030)]
        );
        assert_eq!(parts_of_sectors((10, 20), (512, 512)), [(10, 20)]);
        assert_eq!(parts_of_sectors((10, 520), (512, 512)), [(10, 520)]);
    }
}
