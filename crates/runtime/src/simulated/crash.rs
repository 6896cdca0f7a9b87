//! What a power cut leaves behind.

use super::content::{Block, Content, SECTOR_BYTES};
use super::options::Tearing;
use super::state::{Change, FileId, Image, State, rename_in};
use crate::buffer::BLOCK_BYTES;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::fmt;

/// A write that was under way or not flushed when power was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutWrite {
    /// The file as it is called afterwards; empty if it has no name then.
    pub file: String,
    /// Where in the file.
    pub offset_bytes: u64,
    /// Bytes of the write.
    pub length_bytes: u64,
    /// Whether the write had been reported as done.
    pub completed: bool,
    /// Sectors of 512 bytes of it that are on the disk afterwards.
    pub sectors_kept: u64,
}

impl fmt::Display for CutWrite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sectors = self.length_bytes / SECTOR_BYTES as u64;
        let state = if self.completed {
            "reported as done, not flushed"
        } else {
            "under way"
        };
        let left = match self.sectors_kept {
            0 => "lost".to_owned(),
            all if all == sectors => "whole".to_owned(),
            some => format!("{some} of {sectors} sectors written"),
        };
        write!(
            formatter,
            "{} at {} ({} bytes), {state}: {left}",
            self.file, self.offset_bytes, self.length_bytes
        )
    }
}

/// How much of one write a power cut leaves.
enum WriteOutcome {
    Lost,
    Whole,
    /// Everything before this unit, counted from the start of the file.
    Before(u64),
    /// This unit and everything after it.
    From(u64),
    /// Each unit by the toss of a coin.
    Scattered,
}

/// Decides, unit by unit, what is left of a write.
struct Survival<'a> {
    outcome: WriteOutcome,
    unit_bytes: u64,
    random: &'a mut Xoshiro256PlusPlus,
    /// The latest unit decided on and the decision, as a unit may span several sectors.
    latest: Option<(u64, bool)>,
}

impl<'a> Survival<'a> {
    fn draw(
        random: &'a mut Xoshiro256PlusPlus,
        tearing: Tearing,
        first_block: u64,
        block_count: usize,
    ) -> Self {
        let unit_bytes = tearing.unit_bytes();
        let start_bytes = first_block * BLOCK_BYTES as u64;
        let end_bytes = start_bytes + (block_count * BLOCK_BYTES) as u64;
        let units = start_bytes / unit_bytes..=(end_bytes - 1) / unit_bytes;
        let outcome = match random.random_range(0..9) {
            0..3 => WriteOutcome::Lost,
            3..6 => WriteOutcome::Whole,
            6 => WriteOutcome::Before(random.random_range(units)),
            7 => WriteOutcome::From(random.random_range(units)),
            _ => WriteOutcome::Scattered,
        };
        Self {
            outcome,
            unit_bytes,
            random,
            latest: None,
        }
    }

    fn survives(&mut self, offset_bytes: u64) -> bool {
        let unit = offset_bytes / self.unit_bytes;
        match self.outcome {
            WriteOutcome::Lost => false,
            WriteOutcome::Whole => true,
            WriteOutcome::Before(end) => unit < end,
            WriteOutcome::From(start) => unit >= start,
            WriteOutcome::Scattered => match self.latest {
                Some((latest, decision)) if latest == unit => decision,
                _ => {
                    let decision = self.random.random_bool(0.5);
                    self.latest = Some((unit, decision));
                    decision
                }
            },
        }
    }

    /// The sectors of a block that survive, as bits.
    fn sectors(&mut self, block: u64) -> u8 {
        let mut sectors = 0;
        for sector in 0..(BLOCK_BYTES / SECTOR_BYTES) {
            let offset_bytes = block * BLOCK_BYTES as u64 + (sector * SECTOR_BYTES) as u64;
            if self.survives(offset_bytes) {
                sectors |= 1 << sector;
            }
        }
        sectors
    }

    fn apply<'b>(
        &mut self,
        content: &mut Content,
        first_block: u64,
        blocks: impl Iterator<Item = Option<&'b Block>>,
    ) -> u64 {
        let mut kept = 0;
        for (number, block) in (first_block..).zip(blocks) {
            let sectors = self.sectors(number);
            kept += u64::from(sectors.count_ones());
            if let Some(block) = block {
                content.put_sectors(number, block, sectors);
            }
        }
        kept
    }
}

/// A change of a file's content, to be replayed in order.
enum Step<'a> {
    Write(&'a super::state::PendingWrite),
    Resize(u64),
}

/// How many of `pending` changes survive: none, all and any number between are each likely.
fn surviving_changes(random: &mut Xoshiro256PlusPlus, pending: usize) -> usize {
    match random.random_range(0..4) {
        0 => 0,
        1 => pending,
        _ => random.random_range(0..=pending),
    }
}

/// What the disk would hold if power were lost now. One seed gives one answer; different seeds
/// give the different answers that are possible.
pub(super) fn after_power_loss(
    state: &State,
    tearing: Tearing,
    seed: u64,
) -> (Image, Vec<CutWrite>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let kept = surviving_changes(&mut random, state.journal.len());
    let everything_kept = kept == state.journal.len();
    let mut names = state.durable_names.clone();
    let mut resizes: BTreeMap<FileId, Vec<(u64, Step<'_>)>> = BTreeMap::new();
    for entry in state.journal.iter().take(kept) {
        rename_in(&mut names, &entry.change);
        if let Change::Resize { file, size_bytes } = entry.change {
            let step = (entry.sequence, Step::Resize(size_bytes));
            resizes.entry(file).or_default().push(step);
        }
    }
    let mut contents = BTreeMap::new();
    let mut cut_writes = Vec::new();
    for (file, file_state) in &state.files {
        let mut content = file_state.durable.clone();
        let named = names.iter().find(|(_, named)| *named == file);
        let name = named.map_or("", |(name, _)| name);
        let mut note = |first_block: u64, blocks: usize, completed, sectors_kept| {
            cut_writes.push(CutWrite {
                file: name.to_owned(),
                offset_bytes: first_block * BLOCK_BYTES as u64,
                length_bytes: (blocks * BLOCK_BYTES) as u64,
                completed,
                sectors_kept,
            });
        };
        let mut steps = resizes.remove(file).unwrap_or_default();
        let writes = file_state.pending.iter();
        steps.extend(writes.map(|write| (write.sequence, Step::Write(write))));
        steps.sort_by_key(|(sequence, _)| *sequence);
        for (_, step) in steps {
            match step {
                Step::Resize(size_bytes) => content.resize(size_bytes),
                Step::Write(write) => {
                    let (first, count) = (write.first_block, write.blocks.len());
                    let mut survival = Survival::draw(&mut random, tearing, first, count);
                    let blocks = write.blocks.iter().map(Option::as_ref);
                    note(
                        first,
                        count,
                        true,
                        survival.apply(&mut content, first, blocks),
                    );
                }
            }
        }
        let in_flight = state.in_flight.values().filter(|write| write.file == *file);
        for write in in_flight {
            let end_bytes = (write.first_block + write.blocks.len() as u64) * BLOCK_BYTES as u64;
            if everything_kept && end_bytes > content.size_bytes() && random.random_bool(0.5) {
                content.resize(end_bytes);
            }
            let (first, count) = (write.first_block, write.blocks.len());
            let mut survival = Survival::draw(&mut random, tearing, first, count);
            let blocks = write.blocks.iter().map(Some);
            note(
                first,
                count,
                false,
                survival.apply(&mut content, first, blocks),
            );
        }
        content.drop_blocks_past_end();
        contents.insert(*file, content);
    }
    contents.retain(|file, _| names.values().any(|named| named == file));
    (Image { names, contents }, cut_writes)
}
