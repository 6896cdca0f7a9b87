//! Reading ranges in key order, forwards and backwards.
//!
//! A scan goes leaf by leaf, one step each, and remembers only the key where it goes on. So splits,
//! merges and removals between its steps do it no harm: it descends again.

use super::encode::decode_row;
use super::read::{LongValues, Row};
use crate::catalog::{Table, TableState};
use crate::engine::Core;
use crate::error::EngineError;
use crate::format::page::PageView;
use crate::position::PageNumber;
use crate::settings::{AUTOMATIC_PREREAD_AFTER_BYTES, AUTOMATIC_PREREAD_PAGES, SCAN_PREREAD_PAGES};
use crate::transaction::Transaction;
use crate::transaction::nodes::{ReadView, see_node};
use crate::tree::find::{self, Leaf};
use crate::tree::{Need, Step, find_leaf};
use runtime::Directory;
use std::ops::{Bound, RangeBounds};

/// Which way a scan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the lowest key to the highest.
    Forward,
    /// From the highest key to the lowest.
    Backward,
}

/// How a range is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// The scan ends after so many rows.
    pub limit: usize,
    /// Whether keys ascend or descend.
    pub direction: Direction,
    /// Whether coming pages are read ahead from the start (many at once). Otherwise read-ahead
    /// starts by itself, with fewer pages, once enough has been read in sequence.
    pub read_ahead: bool,
    /// Whether long values are fetched.
    pub long_values: LongValues,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            limit: usize::MAX,
            direction: Direction::Forward,
            read_ahead: false,
            long_values: LongValues::Leave,
        }
    }
}

/// The part of a tree that remains to be read: keys from `low` (inclusive) to `high` (exclusive).
struct Span {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

/// A node as found: key and data.
type FoundNode = (Vec<u8>, Vec<u8>);

/// Index entries whose rows are read ahead together.
const INDEX_BATCH: usize = 64;

impl<D: Directory> Transaction<D> {
    /// Rows whose numbers are in `range`.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub async fn scan(
        &self,
        table: &Table,
        range: impl RangeBounds<i64>,
        options: ScanOptions,
    ) -> Result<Vec<Row>, EngineError> {
        let (read_view, state) = (self.read_view()?, &table.state);
        let Some(span) = span_of(state, &range) else {
            return Ok(Vec::new());
        };
        let nodes = self
            .core
            .scan_tree(state.root(), span, options, read_view)
            .await?;
        let mut rows = Vec::with_capacity(nodes.len());
        for (key, record) in nodes {
            let row = row_of(state, &key, &record)?;
            let row = self
                .core
                .with_long_values(state, Some(row), options.long_values, read_view);
            rows.extend(row.await?);
        }
        Ok(rows)
    }

    /// Rows in the order of a unique index, from the first whose column is not below `from` on;
    /// backwards, from the last that is below it.
    ///
    /// # Errors
    /// If there is no such index or a page cannot be read.
    pub async fn scan_index(
        &self,
        table: &Table,
        index: &str,
        from: &[u8],
        options: ScanOptions,
    ) -> Result<Vec<Row>, EngineError> {
        let (read_view, state) = (self.read_view()?, &table.state);
        let index = state.index(index)?;
        let from = index.key_of_bytes(from);
        let span = match options.direction {
            Direction::Forward => Span {
                low: from,
                high: None,
            },
            Direction::Backward => Span {
                low: Vec::new(),
                high: Some(from),
            },
        };
        let entries = self
            .core
            .scan_tree(index.root, span, options, read_view)
            .await?;
        let mut rows = Vec::with_capacity(entries.len());
        for batch in entries.chunks(INDEX_BATCH) {
            if options.read_ahead {
                self.core.preread_rows(state, batch);
            }
            for (_, key) in batch {
                let row = self
                    .core
                    .read(|step| self.core.row_at(step, state, key, read_view));
                let Some(row) = row.await? else {
                    let reason = format!("index {} has an entry without a row", index.name);
                    return Err(EngineError::damaged(state.name(), &reason));
                };
                let row =
                    self.core
                        .with_long_values(state, Some(row), options.long_values, read_view);
                rows.extend(row.await?);
            }
        }
        Ok(rows)
    }
}

fn row_of(table: &TableState, key: &[u8], record: &[u8]) -> Result<Row, EngineError> {
    let number = table.number_of_key(key);
    let number = number.ok_or_else(|| {
        EngineError::damaged(table.name(), &format!("{key:02x?} is not a key of it"))
    })?;
    Ok(Row {
        key: number,
        values: decode_row(table, record)?,
    })
}

/// The keys of a range of numbers; `None` if there are none.
fn span_of(table: &TableState, range: &impl RangeBounds<i64>) -> Option<Span> {
    let low = match range.start_bound() {
        Bound::Included(&number) => table.key(number),
        Bound::Excluded(&number) => table.key(number.checked_add(1)?),
        Bound::Unbounded => Vec::new(),
    };
    let high = match range.end_bound() {
        Bound::Included(&number) => number.checked_add(1).map(|next| table.key(next)),
        Bound::Excluded(&number) => Some(table.key(number)),
        Bound::Unbounded => None,
    };
    Some(Span { low, high })
}

impl<D: Directory> Core<D> {
    async fn scan_tree(
        &self,
        tree: u32,
        mut span: Span,
        options: ScanOptions,
        read_view: ReadView,
    ) -> Result<Vec<FoundNode>, EngineError> {
        let mut found = Vec::new();
        let mut ahead = ReadAhead::new(self, options);
        while found.len() < options.limit {
            ahead.before_leaf(self, tree, &span);
            let room = options.limit - found.len();
            let direction = options.direction;
            let batch =
                self.read(|step| self.scan_leaf(step, tree, &span, direction, room, read_view));
            let (nodes, next) = batch.await?;
            found.extend(nodes);
            match (next, direction) {
                (None, _) => break,
                (Some(key), Direction::Forward) => span.low = key,
                (Some(key), Direction::Backward) => span.high = Some(key),
            }
        }
        Ok(found)
    }

    /// Reads the visible nodes of one leaf, and where to go on.
    fn scan_leaf(
        &self,
        step: &Step<'_>,
        tree: u32,
        span: &Span,
        direction: Direction,
        room: usize,
        read_view: ReadView,
    ) -> Result<(Vec<FoundNode>, Option<Vec<u8>>), Need> {
        let Some((leaf, range)) = next_leaf(step, tree, span, direction)? else {
            return Ok((Vec::new(), None));
        };
        let view = PageView::new(&leaf.page);
        let transactions = self.transactions.borrow();
        let mut nodes = Vec::new();
        let mut key = Vec::new();
        let mut indexes = range;
        loop {
            let index = match direction {
                Direction::Forward => indexes.next(),
                Direction::Backward => indexes.next_back(),
            };
            let Some(index) = index else { break };
            let node = view.node(index);
            node.key_into(&mut key);
            if outside(&key, span, direction) {
                return Ok((nodes, None));
            }
            let newest = (node.flags, node.data);
            let copy = |data: &[u8]| data.to_vec();
            if let Some(data) =
                see_node(&transactions.versions, tree, &key, newest, read_view, copy)
            {
                nodes.push((key.clone(), data));
                if nodes.len() == room {
                    break;
                }
            }
        }
        if direction == Direction::Forward {
            key.push(0); // The very next key there can be.
        }
        Ok((nodes, Some(key)))
    }

    /// Reads the leaves of these rows ahead.
    fn preread_rows(&self, table: &TableState, entries: &[FoundNode]) {
        let step = Step::new(self);
        let missing =
            entries
                .iter()
                .filter_map(|(_, key)| match find_leaf(&step, table.root(), key) {
                    Err(Need::Page(page)) => Some(PageNumber(page)),
                    _ => None,
                });
        let pages: Vec<PageNumber> = missing.collect();
        if !pages.is_empty() {
            self.cache.preread(pages);
        }
    }
}

fn outside(key: &[u8], span: &Span, direction: Direction) -> bool {
    match direction {
        Direction::Forward => span.high.as_deref().is_some_and(|high| key >= high),
        Direction::Backward => key < span.low.as_slice(),
    }
}

/// The leaf where a span begins (backwards: ends), and the nodes of it in the span.
fn next_leaf(
    step: &Step<'_>,
    tree: u32,
    span: &Span,
    direction: Direction,
) -> Result<Option<(Leaf, std::ops::Range<usize>)>, Need> {
    let mut leaf = match (direction, &span.high) {
        (Direction::Forward, _) => find_leaf(step, tree, &span.low)?,
        (Direction::Backward, Some(high)) => find_leaf(step, tree, high)?,
        (Direction::Backward, None) => find::last_leaf(step, tree)?,
    };
    loop {
        let view = PageView::new(&leaf.page);
        let count = view.node_count();
        let place = |key: &[u8]| view.search(key).unwrap_or_else(|index| index);
        let range = match (direction, &span.high) {
            (Direction::Forward, _) => place(&span.low)..count,
            (Direction::Backward, Some(high)) => 0..place(high),
            (Direction::Backward, None) => 0..count,
        };
        if !range.is_empty() {
            return Ok(Some((leaf, range)));
        }
        let number = match direction {
            Direction::Forward => view.next(),
            Direction::Backward => view.previous(),
        };
        if number == 0 {
            return Ok(None);
        }
        leaf = Leaf::new(number, step.page(number)?);
    }
}

/// Decides when to read ahead.
struct ReadAhead {
    backward: bool,
    /// Pages to read at once.
    pages: usize,
    /// Leaves to read before that starts.
    wait_leaves: usize,
    /// Pages asked for and not come to yet.
    ahead: usize,
}

impl ReadAhead {
    fn new<D: Directory>(core: &Core<D>, options: ScanOptions) -> Self {
        let settings = &core.settings;
        let page_bytes = settings.engine.page_bytes() as u64;
        let (pages, wait) = if options.read_ahead {
            (SCAN_PREREAD_PAGES, 0)
        } else {
            let wait = AUTOMATIC_PREREAD_AFTER_BYTES.div_ceil(page_bytes);
            (AUTOMATIC_PREREAD_PAGES, wait)
        };
        Self {
            backward: options.direction == Direction::Backward,
            pages: (pages as usize).min(settings.engine.cache_pages() / 4),
            wait_leaves: wait as usize,
            ahead: 0,
        }
    }

    fn before_leaf<D: Directory>(&mut self, core: &Core<D>, tree: u32, span: &Span) {
        if self.wait_leaves > 0 {
            self.wait_leaves -= 1;
            return;
        }
        self.ahead = self.ahead.saturating_sub(1);
        if self.ahead > self.pages / 4 {
            return;
        }
        let key = match (&span.high, self.backward) {
            (Some(high), true) => high,
            (None, true) => return,
            (_, false) => &span.low,
        };
        let step = Step::new(core);
        let pages = find::neighbours(&step, tree, key, self.pages, self.backward);
        self.ahead = pages.len();
        core.cache
            .preread(pages.into_iter().map(PageNumber).collect());
    }
}
