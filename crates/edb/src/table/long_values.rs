//! Long values: a root node with reference count and size, and chunks of the bytes.

use crate::catalog::TableState;
use crate::engine::Core;
use crate::error::EngineError;
use crate::format::long_value::{LongValueRoot, chunk_bytes, chunk_key, root_key};
use crate::position::PageNumber;
use crate::settings::LONG_VALUE_PREREAD_PAGES;
use crate::transaction::nodes::ReadView;
use crate::transaction::{NodeChange, WriteOutcome};
use crate::tree::{self, Need, Step};
use crate::versions::OpenTransaction;
use runtime::Directory;

impl<D: Directory> Core<D> {
    /// Stores `value` as long value `id`, which no record refers to yet.
    pub(crate) async fn insert_long_value(
        &self,
        transaction: &mut OpenTransaction,
        table: &TableState,
        id: u32,
        value: &[u8],
    ) -> Result<(), EngineError> {
        let size_bytes = u32::try_from(value.len())
            .map_err(|_| EngineError::damaged(table.name(), "a long value is too long"))?;
        let tree = table.long_value_root();
        let root = LongValueRoot {
            references: 1,
            size_bytes,
        }
        .encode();
        let change = NodeChange::Insert(&root);
        let outcome = self
            .write_node(transaction, tree, &root_key(id), change)
            .await?;
        assert_eq!(
            outcome,
            WriteOutcome::Done,
            "number {id} of a new long value is new"
        );
        let mut offset = 0;
        for chunk in value.chunks(chunk_bytes(self.settings.engine.page_bytes())) {
            let change = NodeChange::Insert(chunk);
            self.write_node(transaction, tree, &chunk_key(id, offset), change)
                .await?;
            offset += chunk.len() as u32;
        }
        Ok(())
    }

    /// Gives up one reference to a long value, and the value with the last one.
    pub(crate) async fn release_long_value(
        &self,
        transaction: &mut OpenTransaction,
        table: &TableState,
        id: u32,
    ) -> Result<(), EngineError> {
        let tree = table.long_value_root();
        let root = self
            .long_value_size(table, id, transaction.read_view())
            .await?;
        if root.references > 1 {
            let fewer = LongValueRoot {
                references: root.references - 1,
                ..root
            }
            .encode();
            let change = NodeChange::Replace(&fewer);
            self.write_node(transaction, tree, &root_key(id), change)
                .await?;
            return Ok(());
        }
        let chunk = chunk_bytes(self.settings.engine.page_bytes()) as u32;
        self.write_node(transaction, tree, &root_key(id), NodeChange::Delete)
            .await?;
        for offset in (0..root.size_bytes).step_by(chunk as usize) {
            let key = chunk_key(id, offset);
            self.write_node(transaction, tree, &key, NodeChange::Delete)
                .await?;
        }
        Ok(())
    }

    async fn long_value_size(
        &self,
        table: &TableState,
        id: u32,
        read_view: ReadView,
    ) -> Result<LongValueRoot, EngineError> {
        let tree = table.long_value_root();
        let root = self
            .read_node(tree, &root_key(id), read_view, LongValueRoot::decode)
            .await?;
        root.flatten().ok_or_else(|| {
            EngineError::damaged(table.name(), &format!("long value {id} has no root"))
        })
    }

    /// Reads a long value.
    pub(crate) async fn fetch_long_value(
        &self,
        table: &TableState,
        id: u32,
        read_view: ReadView,
    ) -> Result<Vec<u8>, EngineError> {
        let tree = table.long_value_root();
        let size = self.long_value_size(table, id, read_view).await?.size_bytes;
        let chunk = chunk_bytes(self.settings.engine.page_bytes()) as u32;
        if size > chunk {
            self.preread_long_value(tree, id);
        }
        let mut value = Vec::with_capacity(size as usize);
        for offset in (0..size).step_by(chunk as usize) {
            let key = chunk_key(id, offset);
            let add = |bytes: &[u8]| value.extend_from_slice(bytes);
            if self.read_node(tree, &key, read_view, add).await?.is_none() {
                break;
            }
        }
        if value.len() != size as usize {
            let reason = format!("long value {id} has {} of {size} bytes", value.len());
            return Err(EngineError::damaged(table.name(), &reason));
        }
        Ok(value)
    }

    /// Reads the pages of a long value's chunks ahead.
    fn preread_long_value(&self, tree: u32, id: u32) {
        let limit = LONG_VALUE_PREREAD_PAGES as usize;
        let step = Step::new(self);
        let mut pages = tree::find::neighbours(&step, tree, &chunk_key(id, 0), limit, false);
        if let Err(Need::Page(first)) = tree::find_leaf(&step, tree, &chunk_key(id, 0)) {
            pages.insert(0, first);
        }
        self.cache
            .preread(pages.into_iter().map(PageNumber).collect());
    }
}
