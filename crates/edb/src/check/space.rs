//! Extents: who owns which pages, and which are free.

use runtime::File;

use super::checker::Checker;
use super::finding::FindingKind;
use super::walk::TreeFacts;
use crate::format::page::PageFlags;
use crate::format::space::{Extent, SpaceHeader, SpaceKind, extents_of};

/// The space of one tree.
#[derive(Debug, Clone, Default)]
pub(super) struct TreeSpace {
    /// Extents the tree owns, in ascending order.
    pub(super) owned: Vec<Extent>,
    /// Free extents among those, in ascending order.
    pub(super) available: Vec<Extent>,
    /// Whether both lists could be read completely.
    pub(super) complete: bool,
}

impl TreeSpace {
    pub(super) fn owned_pages(&self) -> u64 {
        self.owned
            .iter()
            .map(|extent| u64::from(extent.pages))
            .sum()
    }

    pub(super) fn available_pages(&self) -> u64 {
        self.available
            .iter()
            .map(|extent| u64::from(extent.pages))
            .sum()
    }
}

/// Whether the sorted extents, which may touch each other, cover all pages of another one.
fn covers(extents: &[Extent], inner: Extent) -> bool {
    let mut page = inner.first();
    loop {
        let after = extents.partition_point(|extent| extent.last < page);
        match extents.get(after) {
            Some(extent) if extent.contains(page) && extent.last >= inner.last => return true,
            Some(extent) if extent.contains(page) => page = extent.last + 1,
            _ => return false,
        }
    }
}

fn overlap(extents: &[Extent], other: Extent) -> bool {
    let after = extents.partition_point(|extent| extent.last < other.first());
    extents
        .get(after)
        .is_some_and(|extent| extent.first() <= other.last)
}

impl<F: File> Checker<F> {
    /// Reads the space of the tree and checks it by itself and against its parent's.
    pub(super) async fn space_of(
        &mut self,
        tree: &TreeFacts,
        parent: Option<(u32, &TreeSpace)>,
    ) -> TreeSpace {
        // If the root cannot be read, the walk of the tree itself will say why.
        let Ok(root) = self.reader.page(tree.root).await else {
            return TreeSpace::default();
        };
        let Some(header) = SpaceHeader::decode(root.view().external_header()) else {
            let sentence = "its space header cannot be read";
            self.findings
                .add(FindingKind::Extents, Some(tree.root), &tree.name, sentence);
            return TreeSpace::default();
        };
        let parent_root = parent.map_or(0, |(root, _)| root);
        if header.parent_root != parent_root {
            let sentence = format!(
                "its space header names page {} as the root of its parent, which is page {}",
                header.parent_root, parent_root
            );
            self.findings
                .add(FindingKind::Extents, Some(tree.root), &tree.name, sentence);
        }
        let space = match header.kind {
            SpaceKind::Single { free_map } => single(tree.root, header.primary_pages, free_map),
            SpaceKind::Multiple { owned_root } => self.multiple(tree, owned_root).await,
        };
        self.check_space(tree, &space, parent);
        space
    }

    async fn multiple(&mut self, tree: &TreeFacts, owned_root: u32) -> TreeSpace {
        let mut space = TreeSpace {
            complete: true,
            ..TreeSpace::default()
        };
        for available in [false, true] {
            let number = owned_root.saturating_add(u32::from(available));
            let what = if available { "free" } else { "owned" };
            let name = format!("{what} extents of {}", tree.name);
            if number == 0 || number > self.reader.last_page {
                let sentence = format!("their root, page {number}, does not exist");
                self.findings
                    .add(FindingKind::Extents, None, &name, sentence);
                space.complete = false;
                continue;
            }
            let facts = TreeFacts {
                name: name.clone(),
                root: number,
                flags: tree.flags | PageFlags::SPACE,
                owned: None,
                object_id: tree.object_id,
            };
            let mut extents = Vec::new();
            let mut whole = true;
            let mut visit = |checker: &mut Self, page, node: crate::format::page::Node<'_>| {
                match Extent::decode(&node.key(), node.data) {
                    Some(extent) => extents.push(extent),
                    None => {
                        let sentence = "it holds a node that is not an extent";
                        checker
                            .findings
                            .add(FindingKind::Extents, Some(page), &name, sentence);
                        whole = false;
                    }
                }
            };
            let result = Box::pin(self.walk(&facts, &mut visit)).await;
            space.complete &= whole && result.complete;
            let list = if available {
                &mut space.available
            } else {
                &mut space.owned
            };
            *list = extents;
        }
        space
    }

    fn check_space(
        &mut self,
        tree: &TreeFacts,
        space: &TreeSpace,
        parent: Option<(u32, &TreeSpace)>,
    ) {
        let mut report = |sentence: String| {
            self.findings
                .add(FindingKind::Extents, None, &tree.name, sentence);
        };
        for (extents, what) in [(&space.owned, "owned"), (&space.available, "free")] {
            for pair in extents.windows(2) {
                if pair[1].first() <= pair[0].last {
                    report(format!(
                        "its {what} extents {} and {} overlap",
                        show(pair[0]),
                        show(pair[1])
                    ));
                }
            }
        }
        for &extent in space
            .available
            .iter()
            .filter(|e| !covers(&space.owned, **e))
        {
            report(format!(
                "pages {} are free, but not in its space",
                show(extent)
            ));
        }
        let last_page = self.reader.last_page;
        for &extent in &space.owned {
            match parent {
                Some((_, parent)) if parent.complete && !covers(&parent.owned, extent) => {
                    report(format!(
                        "it owns pages {}, which its parent does not have",
                        show(extent)
                    ));
                }
                None if extent.last > last_page => report(format!(
                    "it has pages {}, but the file ends with page {last_page}",
                    show(extent)
                )),
                _ => {}
            }
            if parent.is_some_and(|(_, parent)| overlap(&parent.available, extent)) {
                report(format!(
                    "it owns pages {}, which its parent lists as free",
                    show(extent)
                ));
            }
        }
    }

    /// Notes the extents of a tree in the maps of the whole file. `depth` is 0 for the database
    /// root, 1 for tables, 2 for what takes its space from a table.
    pub(super) fn note_space(&mut self, tree: &TreeFacts, space: &TreeSpace, depth: usize) {
        self.space_complete &= space.complete;
        let limit = self.reader.last_page;
        for &extent in &space.owned {
            let new = |page: &u32| !self.owned[depth].insert(*page);
            if let Some(page) = (extent.first()..=extent.last.min(limit)).find(new) {
                let sentence = "it belongs to more than one tree";
                self.findings
                    .add(FindingKind::Extents, Some(page), &tree.name, sentence);
            }
        }
        for &extent in &space.available {
            for page in extent.first()..=extent.last.min(limit) {
                self.available.insert(page);
            }
        }
    }

    /// Reports owned pages that are neither used nor free.
    pub(super) fn report_leaks(&mut self) {
        let lost = |page: &u32| !self.reached.contains(*page) && !self.available.contains(*page);
        let leaked = extents_of(self.owned[0].iter().filter(lost));
        for extent in leaked {
            let sentence = format!("pages {} are neither used nor free", show(extent));
            self.findings
                .add(FindingKind::Leaked, None, "database", sentence);
        }
    }
}

fn single(root: u32, pages: u32, free_map: u32) -> TreeSpace {
    let pages = pages.clamp(1, 33);
    let free = (0..32_u32)
        .filter(|bit| free_map >> bit & 1 == 1)
        .map(|bit| root + 1 + bit);
    TreeSpace {
        owned: vec![Extent::from_first(root, pages)],
        available: extents_of(free),
        complete: true,
    }
}

fn show(extent: Extent) -> String {
    format!("{}..={}", extent.first(), extent.last)
}
