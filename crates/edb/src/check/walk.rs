//! Going through one tree, leaf by leaf.

use runtime::File;

use super::checker::Checker;
use super::finding::FindingKind;
use crate::format::page::{Node, PageDamage, PageFlags};
use crate::format::space::Extent;
use crate::reading::{Page, PageProblem};

/// Neighbouring leaves read in one request.
const MAX_RUN_PAGES: u32 = 16;

/// What is known of a tree before it is walked.
#[derive(Debug, Clone)]
pub(super) struct TreeFacts {
    /// Such as "table messages".
    pub(super) name: String,
    pub(super) object_id: u32,
    pub(super) root: u32,
    /// Flags every page of the tree has: index, long value, space.
    pub(super) flags: PageFlags,
    /// Sorted extents of the tree; `None` if they are not known.
    pub(super) owned: Option<Vec<Extent>>,
}

/// What a walk found out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WalkResult {
    pub(super) pages: u32,
    pub(super) leaves: u32,
    pub(super) nodes: u64,
    /// Bytes free in leaves.
    pub(super) free_bytes: u64,
    pub(super) levels: u32,
    /// Whether every page could be read.
    pub(super) complete: bool,
}

/// Flags that distinguish trees.
const KIND_FLAGS: PageFlags =
    PageFlags(PageFlags::SPACE.0 | PageFlags::INDEX.0 | PageFlags::LONG_VALUE.0);

/// Bounds of the keys of a page: from the first (inclusive) to the second (exclusive).
#[derive(Clone, Default)]
struct Bounds {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

/// An internal page on the way down.
struct Frame {
    page: Page,
    next_child: usize,
    bounds: Bounds,
}

impl Frame {
    /// Child `index` and the bounds of its keys.
    fn child(&self, index: usize) -> (u32, Bounds) {
        let view = self.page.view();
        let low = match index.checked_sub(1) {
            Some(before) => view.node(before).key(),
            None => self.bounds.low.clone(),
        };
        let last = index + 1 == view.node_count();
        let high = if last {
            self.bounds.high.clone()
        } else {
            Some(view.node(index).key())
        };
        (view.child(index), Bounds { low, high })
    }
}

struct Walk<'w> {
    tree: &'w TreeFacts,
    result: WalkResult,
    leaf_depth: Option<usize>,
    /// The leaf before, and where it points; `None` after a leaf that could not be read.
    before: Option<(u32, u32)>,
}

impl<F: File> Checker<F> {
    /// Walks a tree and shows every node of its leaves to `visit`.
    pub(super) async fn walk(
        &mut self,
        tree: &TreeFacts,
        visit: &mut dyn FnMut(&mut Self, u32, Node<'_>),
    ) -> WalkResult {
        let result = WalkResult {
            complete: true,
            ..WalkResult::default()
        };
        let mut walk = Walk {
            tree,
            result,
            leaf_depth: None,
            before: Some((0, 0)),
        };
        let mut stack: Vec<Frame> = Vec::new();
        let root = self.reader.page(tree.root).await;
        if let Some(page) = self.accept(&mut walk, tree.root, root, 0, &Bounds::default()) {
            self.descend(&mut walk, page, &mut stack, Bounds::default(), visit);
        }
        while let Some(frame) = stack.last_mut() {
            let children = frame.page.view().node_count();
            if frame.next_child == children {
                stack.pop();
                continue;
            }
            let first = frame.next_child;
            let run = run_of_children(frame, first);
            frame.next_child += run as usize;
            let number = frame.page.view().child(first);
            let bounds: Vec<_> = (first..frame.next_child)
                .map(|i| frame.child(i).1)
                .collect();
            if number == 0 || run > self.reader.last_page.saturating_sub(number - 1) {
                let sentence = format!("it points at page {number}, which does not exist");
                let page = frame.page.number;
                self.findings
                    .add(FindingKind::WrongPage, Some(page), &tree.name, sentence);
                walk.lost();
                continue;
            }
            let depth = stack.len();
            let pages = self.reader.pages(number, run).await;
            for ((page, number), bounds) in pages.into_iter().zip(number..).zip(bounds) {
                if let Some(page) = self.accept(&mut walk, number, page, depth, &bounds) {
                    self.descend(&mut walk, page, &mut stack, bounds, visit);
                }
            }
        }
        if let Some((leaf, next)) = walk.before
            && next != 0
        {
            let sentence = format!("it is the last leaf but points at page {next}");
            self.findings
                .add(FindingKind::Links, Some(leaf), &tree.name, sentence);
        }
        walk.result
    }

    /// Shows the nodes of a leaf, or goes on with an internal page later.
    fn descend(
        &mut self,
        walk: &mut Walk<'_>,
        page: Page,
        stack: &mut Vec<Frame>,
        bounds: Bounds,
        visit: &mut dyn FnMut(&mut Self, u32, Node<'_>),
    ) {
        if !page.view().is_leaf() {
            stack.push(Frame {
                page,
                next_child: 0,
                bounds,
            });
            return;
        }
        let view = page.view();
        self.check_links(walk, &page);
        walk.result.leaves += 1;
        walk.result.free_bytes += view.free_bytes() as u64;
        let depth = stack.len();
        if *walk.leaf_depth.get_or_insert(depth) != depth {
            let sentence = "this leaf is not as deep as those before it";
            self.findings.add(
                FindingKind::Depth,
                Some(page.number),
                &walk.tree.name,
                sentence,
            );
        }
        for node in view.nodes() {
            walk.result.nodes += 1;
            if node.is_visible() {
                visit(self, page.number, node);
            } else {
                self.deleted_nodes += 1;
            }
        }
    }

    fn check_links(&mut self, walk: &mut Walk<'_>, page: &Page) {
        let view = page.view();
        let name = &walk.tree.name;
        if let Some((before, next)) = walk.before {
            if view.previous() != before {
                let found = view.previous();
                let sentence =
                    format!("its left neighbour is page {before}, but it points at {found}");
                self.findings
                    .add(FindingKind::Links, Some(page.number), name, sentence);
            }
            if before != 0 && next != page.number {
                let sentence = format!(
                    "its right neighbour is page {}, but it points at {next}",
                    page.number
                );
                self.findings
                    .add(FindingKind::Links, Some(before), name, sentence);
            }
        }
        walk.before = Some((page.number, view.next()));
    }

    /// Checks what a page must be at its place; `None` if nothing below it can be trusted.
    fn accept(
        &mut self,
        walk: &mut Walk<'_>,
        number: u32,
        page: Result<Page, PageProblem>,
        depth: usize,
        bounds: &Bounds,
    ) -> Option<Page> {
        let name = &walk.tree.name;
        if !self.reached.insert(number) {
            let sentence = "more than one page points at it";
            self.findings
                .add(FindingKind::ReachedTwice, Some(number), name, sentence);
            walk.lost();
            return None;
        }
        walk.result.pages += 1;
        self.advance(1);
        walk.result.levels = walk.result.levels.max(depth as u32 + 1);
        if self.available.contains(number) {
            let sentence = "it is in use, but listed as free";
            self.findings
                .add(FindingKind::UsedAndFree, Some(number), name, sentence);
        }
        if walk
            .tree
            .owned
            .as_ref()
            .is_some_and(|owned| !contains(owned, number))
        {
            let sentence = "it is in use, but not in the space its tree owns";
            self.findings
                .add(FindingKind::NotOwned, Some(number), name, sentence);
        }
        let page = match page {
            Ok(page) => page,
            Err(problem) => {
                self.report_problem(number, name, &problem);
                walk.lost();
                return None;
            }
        };
        if let Some(sentence) = wrong_place(walk.tree, &page, depth) {
            self.findings
                .add(FindingKind::WrongPage, Some(number), name, sentence);
            walk.lost();
            return None;
        }
        let view = page.view();
        if view.dbtime() > self.reader.header.dbtime {
            let sentence = format!(
                "it was changed at time {}, after the last time the header knows ({})",
                view.dbtime(),
                self.reader.header.dbtime
            );
            self.findings
                .add(FindingKind::PageTime, Some(number), name, sentence);
        }
        self.check_bounds(name, &page, bounds);
        Some(page)
    }

    fn check_bounds(&mut self, name: &str, page: &Page, bounds: &Bounds) {
        let view = page.view();
        let keyed = if view.is_leaf() {
            view.node_count()
        } else {
            view.node_count() - 1
        };
        let Some(last) = keyed.checked_sub(1) else {
            return;
        };
        let (first, last) = (view.node(0).key(), view.node(last).key());
        // A separator may equal the upper bound: then its neighbour's range is empty.
        let above = |high: &Vec<u8>| {
            if view.is_leaf() {
                last >= *high
            } else {
                last > *high
            }
        };
        if first < bounds.low || bounds.high.as_ref().is_some_and(above) {
            let sentence = "its keys lie outside the bounds its parent sets";
            self.findings
                .add(FindingKind::KeyBounds, Some(page.number), name, sentence);
        }
    }

    /// Reports what is wrong with a page by itself.
    pub(super) fn report_problem(&mut self, number: u32, name: &str, problem: &PageProblem) {
        let (kind, sentence) = match problem {
            PageProblem::Unreadable(error) => (FindingKind::Unreadable, error.to_string()),
            PageProblem::Damage(damage) => {
                let kind = match damage {
                    PageDamage::NeverWritten => FindingKind::NeverWritten,
                    PageDamage::WrongChecksum { .. } => FindingKind::Checksum,
                    PageDamage::WrongNumber { .. } => FindingKind::PageNumber,
                };
                (kind, damage.to_string())
            }
            PageProblem::Structure(error) => (FindingKind::Structure, error.to_string()),
        };
        self.findings.add(kind, Some(number), name, sentence);
    }
}

impl Walk<'_> {
    /// Part of the tree cannot be seen, so nothing is known of the next leaf's left neighbour.
    fn lost(&mut self) {
        self.result.complete = false;
        self.before = None;
    }
}

/// How many children from `first` on are leaves that lie one after the other.
fn run_of_children(frame: &Frame, first: usize) -> u32 {
    let view = frame.page.view();
    if !view.flags().contains(PageFlags::PARENT_OF_LEAF) {
        return 1;
    }
    let start = u64::from(view.child(first));
    let follows = |&(distance, index): &(u64, usize)| {
        u64::from(view.child(index)) == start + distance && distance < u64::from(MAX_RUN_PAGES)
    };
    (0..)
        .zip(first..view.node_count())
        .take_while(follows)
        .count() as u32
}

/// Whether one of the sorted extents contains a page.
pub(super) fn contains(extents: &[Extent], page: u32) -> bool {
    let after = extents.partition_point(|extent| extent.last < page);
    extents
        .get(after)
        .is_some_and(|extent| extent.contains(page))
}

/// Why a page cannot be the one its parent points at.
fn wrong_place(tree: &TreeFacts, page: &Page, depth: usize) -> Option<String> {
    let view = page.view();
    let flags = view.flags();
    if view.object_id() != tree.object_id {
        return Some(format!("it belongs to object {}", view.object_id()));
    }
    if flags.contains(PageFlags::EMPTY) || flags & KIND_FLAGS != tree.flags {
        return Some(format!(
            "its flags {:#x} are those of another kind of tree",
            flags.0
        ));
    }
    if flags.contains(PageFlags::ROOT) != (depth == 0) {
        return Some("whether it is a root contradicts its place".to_owned());
    }
    None
}
