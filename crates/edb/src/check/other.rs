//! The check of a file that another program wrote.

use runtime::File;

use super::checker::Checker;
use super::finding::FindingKind;
use super::space::TreeSpace;
use super::walk::TreeFacts;
use super::whole::KnownTree;
use crate::format::general::{GeneralTable, GeneralTree, tables_of_catalog};
use crate::format::layout::{CATALOG, DATABASE_ROOT};
use crate::format::page::{Node, PageFlags};

/// Keys and records, in their order.
pub(super) type Nodes = Vec<(Vec<u8>, Vec<u8>)>;

/// All trees of one table.
pub(super) struct OtherTable {
    pub(super) stored: GeneralTable,
    pub(super) rows: KnownTree,
    /// Keys and records, if they were read before, as those of the catalog are.
    pub(super) read: Option<Nodes>,
    /// Those in `stored.indexes` that are not primary, in their order.
    pub(super) indexes: Vec<KnownTree>,
    pub(super) long_values: Option<KnownTree>,
}

impl<F: File> Checker<F> {
    /// Walks all trees the catalog names and holds rows, entries and long values against each other.
    pub(super) async fn check_other_trees(&mut self) {
        let (root, root_space) = self.known_system(DATABASE_ROOT, None, 0).await;
        self.walk(&root, &mut |_, _, _| ()).await;
        let under_root = Some((root.root, &root_space));
        let catalog = self.known_system(CATALOG, under_root, 1).await;
        let Some((nodes, stored)) = self.read_other_catalog(&catalog.0).await else {
            return;
        };
        let mut catalog = Some((catalog, nodes));
        let mut tables = Vec::new();
        for table in stored {
            let known = match table.tree.root {
                root if root == CATALOG.root => catalog.take(),
                _ => None,
            };
            tables.push(self.known_other(table, known, &root_space).await);
        }
        for table in &tables {
            self.check_other_table(table).await;
        }
        self.report_free_but_used();
    }

    /// The tables that the catalog describes, itself included. Its rows are walked here.
    async fn read_other_catalog(
        &mut self,
        catalog: &TreeFacts,
    ) -> Option<(Nodes, Vec<GeneralTable>)> {
        let mut nodes = Nodes::new();
        let mut visit = |_: &mut Self, _: u32, node: Node<'_>| {
            nodes.push((node.key(), node.data.to_vec()));
        };
        if !self.walk(catalog, &mut visit).await.complete {
            return None;
        }
        let records = nodes.iter().map(|(_, record)| record.as_slice());
        match tables_of_catalog(records, self.reader.page_size_bytes) {
            Ok(tables) => Some((nodes, tables)),
            Err(error) => {
                self.findings
                    .add(FindingKind::Catalog, None, &catalog.name, error.to_string());
                None
            }
        }
    }

    async fn known_other(
        &mut self,
        stored: GeneralTable,
        known: Option<(KnownTree, Nodes)>,
        root_space: &TreeSpace,
    ) -> OtherTable {
        let name = &stored.name;
        let (rows, read) = match known {
            Some((rows, nodes)) => (rows, Some(nodes)),
            None => {
                let facts = facts(format!("table {name}"), stored.tree, PageFlags::default());
                let parent = Some((DATABASE_ROOT.root, root_space));
                (self.known(facts, parent, 1).await, None)
            }
        };
        let under_table = Some((rows.0.root, &rows.1));
        let mut indexes = Vec::new();
        for index in stored.indexes.iter().filter(|index| !index.is_primary()) {
            let name = format!("index {} of table {name}", index.name);
            let facts = facts(name, index.tree, PageFlags::INDEX);
            indexes.push(self.known(facts, under_table, 2).await);
        }
        let mut long_values = None;
        if let Some(tree) = stored.long_values {
            let name = format!("long values of table {name}");
            let facts = facts(name, tree, PageFlags::LONG_VALUE);
            long_values = Some(self.known(facts, under_table, 2).await);
        }
        OtherTable {
            rows,
            read,
            indexes,
            long_values,
            stored,
        }
    }
}

fn facts(name: String, tree: GeneralTree, flags: PageFlags) -> TreeFacts {
    TreeFacts {
        name,
        object_id: tree.object_id,
        root: tree.root,
        flags,
        owned: None,
    }
}
