//! Trees and their space against a map in memory, without cache, log or file.

use super::*;
use crate::format::page::{NodeFlags, PageFlags, PageView};
use crate::space::{self, DATABASE_ROOT};
use crate::tree::{LoggedOperations, Page, Pages, StepOperations};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pages in a map. A page "is not cached" until it was asked for once, so that steps get aborted.
struct MemoryPages {
    page_bytes: usize,
    pages: BTreeMap<u32, Rc<Page>>,
    cached: std::cell::RefCell<std::collections::BTreeSet<u32>>,
    dbtime: u64,
    owned_pages: u32,
    /// The last operations carried out.
    record: Vec<u8>,
}

impl Pages for MemoryPages {
    fn cached(&self, page: u32) -> Option<Rc<Page>> {
        if !self.cached.borrow().contains(&page) {
            return None;
        }
        self.pages.get(&page).cloned()
    }
    fn blank(&self) -> Page {
        Page::zeroed(self.page_bytes)
    }
    fn dbtime(&self) -> u64 {
        self.dbtime
    }
    fn extension_pages(&self) -> u32 {
        64
    }
}

impl MemoryPages {
    fn new(page_bytes: usize) -> Self {
        let mut new = Self {
            page_bytes,
            pages: BTreeMap::new(),
            cached: std::cell::RefCell::default(),
            dbtime: 0,
            owned_pages: 64,
            record: Vec::new(),
        };
        new.run(|step| {
            let extent = crate::space::Extent::from_first(1, 64);
            space::format_tree(step, extent, 0, PageFlags::default(), 1, true)
        });
        new
    }

    fn run<T>(&mut self, mut work: impl FnMut(&mut Step<'_>) -> Result<T, Need>) -> T {
        self.run_dyn(&mut work)
    }

    fn run_dyn<T>(&mut self, work: &mut dyn FnMut(&mut Step<'_>) -> Result<T, Need>) -> T {
        loop {
            let mut step = Step::new(self);
            match work(&mut step) {
                Ok(done) => {
                    let operations = step.finish();
                    self.apply(&operations);
                    return done;
                }
                Err(Need::Page(page)) => {
                    assert!(
                        self.pages.contains_key(&page),
                        "page {page} was never written"
                    );
                    assert!(self.cached.borrow_mut().insert(page));
                }
                Err(Need::Space { pages }) => {
                    assert!(pages <= 64 + 32, "{pages} pages at once");
                    let extent = crate::space::Extent::from_first(self.owned_pages + 1, 128);
                    self.owned_pages += 128;
                    self.run_dyn(&mut |step| space::add_owned(step, DATABASE_ROOT, extent));
                }
                Err(Need::Refused(error)) => panic!("refused: {error}"),
            }
        }
    }

    /// Carries out what the record says, as redo would.
    fn apply(&mut self, operations: &StepOperations) {
        let mut touched = Vec::new();
        let mut record = Vec::new();
        operations.encode(&mut record);
        let mut logged = LoggedOperations::decode(crate::tree::bytes::TakeBytes(&record)).unwrap();
        while let Some(one) = logged.next() {
            let one = one.unwrap();
            let blank = || Rc::new(Page::zeroed(self.page_bytes));
            let page = self.pages.entry(one.page).or_insert_with(blank);
            let mut changed = page.copied();
            if !one.operation.formats() {
                assert_eq!(PageView::new(&changed).dbtime(), one.before);
            }
            one.operation.apply(&mut changed, one.page, one.after);
            touched.push(one.page);
            *page = Rc::new(changed);
            self.cached.borrow_mut().insert(one.page);
            self.dbtime = one.after;
        }
        for page in touched {
            PageView::new(&self.pages[&page]).check_structure().unwrap();
        }
        self.record = record;
    }

    /// The operations that remove a node and then look after its leaf, whatever is left on that.
    fn removal_with_a_look(&self, root: u32, key: &[u8]) -> Vec<u8> {
        let cached = self.cached.clone();
        self.cached.borrow_mut().extend(self.pages.keys());
        let mut step = Step::new(self);
        let Found { leaf, index } = find(&step, root, key).unwrap().unwrap();
        let removal = PageOperation::Remove {
            first: index,
            count: 1,
        };
        step.change(leaf.number, &removal).unwrap();
        merge::tidy(&mut step, root, key).unwrap();
        self.cached.swap(&cached);
        let mut record = Vec::new();
        step.finish().encode(&mut record);
        record
    }

    /// Walks a tree; returns its nodes and the pages it uses, space trees included.
    fn walk(&self, root: u32) -> (BTreeMap<Vec<u8>, Vec<u8>>, Vec<u32>) {
        let mut nodes = BTreeMap::new();
        let mut pages = Vec::new();
        let mut leaves = Vec::new();
        self.walk_page(root, &[], None, &mut nodes, &mut pages, &mut leaves);
        for (place, &leaf) in leaves.iter().enumerate() {
            let page = &self.pages[&leaf];
            let view = PageView::new(page);
            let before = if place == 0 { 0 } else { leaves[place - 1] };
            assert_eq!(view.previous(), before, "left link of {leaf}");
            assert_eq!(view.next(), leaves.get(place + 1).copied().unwrap_or(0));
        }
        (nodes, pages)
    }

    fn walk_page(
        &self,
        number: u32,
        low: &[u8],
        high: Option<&[u8]>,
        nodes: &mut BTreeMap<Vec<u8>, Vec<u8>>,
        pages: &mut Vec<u32>,
        leaves: &mut Vec<u32>,
    ) {
        pages.push(number);
        let page = &self.pages[&number];
        let view = PageView::new(page);
        view.check_structure().unwrap();
        if view.is_leaf() {
            leaves.push(number);
            for node in view.nodes() {
                let key = node.key();
                assert!(key.as_slice() >= low && high.is_none_or(|high| key.as_slice() < high));
                assert!(nodes.insert(key, node.data.to_vec()).is_none());
            }
            return;
        }
        let mut low = low.to_vec();
        for index in 0..view.node_count() {
            let is_last = index + 1 == view.node_count();
            let bound = view.node(index).key();
            let high = if is_last {
                high
            } else {
                Some(bound.as_slice())
            };
            self.walk_page(view.child(index), &low, high, nodes, pages, leaves);
            low = bound.clone();
        }
    }

    fn check_space(&self, root: u32, used: &[u32]) {
        let step = Step::new(self);
        self.cached.borrow_mut().extend(self.pages.keys());
        let header = space::space_header(&step, root).unwrap();
        let mut seen: Vec<u32> = used.to_vec();
        let mut owned = Vec::new();
        match header.kind {
            space::SpaceKind::Single { free_map: bits } => {
                owned.extend(root..root + header.primary_pages);
                seen.extend(
                    (0..32)
                        .filter(|bit| bits & 1 << bit != 0)
                        .map(|bit| root + 1 + bit),
                );
            }
            space::SpaceKind::Multiple { owned_root: tree } => {
                for (root, out) in [(tree, &mut owned), (tree + 1, &mut seen)] {
                    space::visit(&step, root, |extent| {
                        out.extend(extent.first()..=extent.last);
                        true
                    })
                    .unwrap();
                }
                seen.extend(self.walk(tree).1);
                seen.extend(self.walk(tree + 1).1);
            }
        }
        seen.sort_unstable();
        owned.sort_unstable();
        assert_eq!(seen, owned, "pages in use and free are the pages owned");
    }
}

fn remove(pages: &mut MemoryPages, root: u32, key: &[u8]) {
    let expected = pages.removal_with_a_look(root, key);
    pages.run(|step| remove_node(step, root, key));
    assert_eq!(pages.record, expected, "removal of {key:02x?}");
}

fn random_key(random: &mut Xoshiro256PlusPlus, style: u32, count: u64) -> Vec<u8> {
    match style {
        0 => count.to_be_bytes().to_vec(),
        1 => random.random_range(0u32..4000).to_be_bytes().to_vec(),
        _ => {
            let length = random.random_range(1..200);
            let mut key = b"a common beginning of some length".to_vec();
            key.extend((0..length).map(|_| random.random_range(0u8..4)));
            key
        }
    }
}

fn model(seed: u64, page_bytes: usize, style: u32, steps: u32) {
    println!("seed {seed}, pages of {page_bytes} bytes, keys of style {style}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut pages = MemoryPages::new(page_bytes);
    let root = pages
        .run(|step| space::create_tree(step, DATABASE_ROOT, 4, PageFlags::default(), 7, false));
    let mut map: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let largest = crate::format::page::max_record_bytes(page_bytes, 255);
    for count in 0..steps {
        let shrinking = count > steps / 2;
        let action = random.random_range(0..10);
        if action < if shrinking { 2 } else { 6 } {
            let key = random_key(&mut random, style, u64::from(count));
            let length = match random.random_range(0..20) {
                0 => random.random_range(0..largest),
                _ => random.random_range(0..200),
            };
            let data = vec![count as u8; length];
            if map.contains_key(&key) {
                pages.run(|step| change_node(step, root, &key, NodeFlags::NONE, &data));
            } else {
                pages.run(|step| insert_node(step, root, &key, NodeFlags::NONE, &data));
            }
            map.insert(key, data);
        } else if let Some(key) = nth_key(&map, &mut random) {
            remove(&mut pages, root, &key);
            map.remove(&key);
        }
        if random.random_range(0..50) == 0 {
            pages.cached.borrow_mut().clear();
        }
        if count % 997 == 0 || count + 1 == steps {
            let (nodes, used) = pages.walk(root);
            assert!(
                nodes == map,
                "the tree holds {} nodes, not {}",
                nodes.len(),
                map.len()
            );
            pages.check_space(root, &used);
        }
    }
    while let Some(key) = nth_key(&map, &mut random) {
        remove(&mut pages, root, &key);
        map.remove(&key);
    }
    let (_, used) = pages.walk(root);
    assert_eq!(used, [root], "an emptied tree is its root alone");
    pages.check_space(root, &used);
}

fn nth_key(map: &BTreeMap<Vec<u8>, Vec<u8>>, random: &mut Xoshiro256PlusPlus) -> Option<Vec<u8>> {
    let start = random_key(random, 1, 0);
    let from_there = map.range(start..).next().or_else(|| map.iter().next_back());
    match random.random_range(0..3) {
        0 => map.keys().next().cloned(),
        1 => map.keys().next_back().cloned(),
        _ => from_there.map(|(key, _)| key.clone()),
    }
}

#[test]
fn trees_behave_like_maps_and_account_for_every_page() {
    for seed in 0..4 {
        for page_bytes in [4096, 8192, 32_768] {
            for style in 0..3 {
                model(seed, page_bytes, style, 3000);
            }
        }
    }
}
