//! The leaves of a tree from left to right, and the leaf in which a key lies.

use runtime::File;

use super::error::ReadError;
use super::reader::{Page, Reader};

/// A tree is never so deep; a loop in a damaged one would be.
const MOST_LEVELS: usize = 32;

/// An internal page on the way down.
struct Above {
    page: Page,
    next_child: usize,
}

/// Goes through the leaves of one tree.
pub(crate) struct TreeReader<'r, F: File> {
    reader: &'r Reader<F>,
    object: String,
    root: u32,
    started: bool,
    above: Vec<Above>,
    /// Pages read since the beginning: more than the file has are a loop.
    pages: u64,
}

impl<'r, F: File> TreeReader<'r, F> {
    /// Before the first leaf. `object` is what messages call the tree.
    pub(crate) fn new(reader: &'r Reader<F>, object: &str, root: u32) -> Self {
        Self {
            reader,
            object: object.to_owned(),
            root,
            started: false,
            above: Vec::new(),
            pages: 0,
        }
    }

    pub(crate) fn object(&self) -> &str {
        &self.object
    }

    async fn page(&mut self, number: u32) -> Result<Page, ReadError> {
        self.pages += 1;
        let wrong = |reason| ReadError::Tree {
            page: number,
            object: self.object.clone(),
            reason,
        };
        if number == 0 || number > self.reader.last_page {
            return Err(wrong("does not exist"));
        }
        if self.pages > u64::from(self.reader.last_page) || self.above.len() > MOST_LEVELS {
            return Err(wrong("is reached again and again"));
        }
        let page = self.reader.page(number).await;
        page.map_err(|problem| ReadError::Page {
            page: number,
            object: self.object.clone(),
            problem,
        })
    }

    /// The next leaf, `None` behind the last one.
    pub(crate) async fn next_leaf(&mut self) -> Result<Option<Page>, ReadError> {
        let mut number = if self.started {
            let Some(child) = self.next_child() else {
                return Ok(None);
            };
            child
        } else {
            self.started = true;
            self.root
        };
        loop {
            let page = self.page(number).await?;
            if page.view().is_leaf() {
                return Ok(Some(page));
            }
            number = page.view().child(0);
            let next_child = 1;
            self.above.push(Above { page, next_child });
        }
    }

    fn next_child(&mut self) -> Option<u32> {
        loop {
            let above = self.above.last_mut()?;
            let view = above.page.view();
            if above.next_child < view.node_count() {
                above.next_child += 1;
                return Some(view.child(above.next_child - 1));
            }
            self.above.pop();
        }
    }

    /// The leaf where `key` is or would be; [`Self::next_leaf`] goes on from there.
    pub(crate) async fn leaf_of(&mut self, key: &[u8]) -> Result<Page, ReadError> {
        (self.started, self.pages) = (true, 0);
        self.above.clear();
        let mut number = self.root;
        loop {
            let page = self.page(number).await?;
            let view = page.view();
            if view.is_leaf() {
                return Ok(page);
            }
            let child = view.child_index(key);
            number = view.child(child);
            let next_child = child + 1;
            self.above.push(Above { page, next_child });
        }
    }
}
