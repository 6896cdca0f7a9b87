//! Reading the catalog, and holding it against its copy and its indexes.

use std::collections::BTreeMap;

use runtime::File;

use super::checker::Checker;
use super::finding::FindingKind;
use super::walk::TreeFacts;
use crate::format::catalog::{
    CatalogRow, ObjectKind, StoredTable, catalog_definition, system_rows, tables_of_rows,
};
use crate::format::layout::FIRST_USER_OBJECT_ID;
use crate::format::record::RecordLayout;

type Nodes = BTreeMap<Vec<u8>, Vec<u8>>;

impl<F: File> Checker<F> {
    /// All nodes of a small tree; the flag says whether it could be read completely.
    async fn nodes_of(&mut self, tree: &TreeFacts) -> (Nodes, bool) {
        let mut nodes = Nodes::new();
        let mut visit = |_: &mut Self, _: u32, node: crate::format::page::Node<'_>| {
            nodes.insert(node.key(), node.data.to_vec());
        };
        let complete = self.walk(tree, &mut visit).await.complete;
        self.trees_complete &= complete;
        (nodes, complete)
    }

    /// The user tables, from the catalog, or from its copy if the catalog cannot be read.
    pub(super) async fn read_catalog(
        &mut self,
        catalog: &TreeFacts,
        shadow: &TreeFacts,
        names: &TreeFacts,
        roots: &TreeFacts,
    ) -> Option<Vec<StoredTable>> {
        let (nodes, catalog_whole) = self.nodes_of(catalog).await;
        let (copy, shadow_whole) = self.nodes_of(shadow).await;
        if catalog_whole && shadow_whole && nodes != copy {
            let sentence = "its rows are not those of the catalog";
            self.findings
                .add(FindingKind::Catalog, None, &shadow.name, sentence);
        }
        let rows = self.decode_rows(if catalog_whole { &nodes } else { &copy }, &catalog.name)?;
        let name_keys = rows.iter().map(|row| (row.name_key(), row.key())).collect();
        let root_keys = rows
            .iter()
            .filter_map(|row| Some((row.root_key()?, row.key())))
            .collect();
        for (tree, expected) in [(names, name_keys), (roots, root_keys)] {
            let (found, whole): (Nodes, bool) = self.nodes_of(tree).await;
            if whole && found != expected {
                let sentence = "its entries are not those of the catalog's rows";
                self.findings
                    .add(FindingKind::Catalog, None, &tree.name, sentence);
            }
        }
        let (system, user): (Vec<CatalogRow>, Vec<CatalogRow>) = rows
            .into_iter()
            .partition(|row| row.table_object_id < FIRST_USER_OBJECT_ID);
        if system != system_rows() {
            let sentence = "it does not describe the system tables as they are";
            self.findings
                .add(FindingKind::Catalog, None, &catalog.name, sentence);
        }
        self.check_object_ids(&user, &catalog.name);
        match tables_of_rows(&user) {
            Ok(tables) => Some(tables),
            Err(error) => {
                self.findings
                    .add(FindingKind::Catalog, None, &catalog.name, error.to_string());
                None
            }
        }
    }

    fn decode_rows(&mut self, nodes: &Nodes, name: &str) -> Option<Vec<CatalogRow>> {
        let layout = RecordLayout::new(&catalog_definition().columns, self.reader.page_size_bytes);
        let mut rows = Vec::new();
        for (key, record) in nodes {
            match CatalogRow::decode(&layout, record) {
                Ok(row) if row.key() == *key => rows.push(row),
                Ok(row) => {
                    let sentence =
                        format!("the row of {} has another key than its values", row.name);
                    self.findings
                        .add(FindingKind::Catalog, None, name, sentence);
                    return None;
                }
                Err(error) => {
                    self.findings
                        .add(FindingKind::Catalog, None, name, error.to_string());
                    return None;
                }
            }
        }
        (!rows.is_empty()).then_some(rows)
    }

    fn check_object_ids(&mut self, rows: &[CatalogRow], name: &str) {
        let last = self.reader.header.last_object_id;
        for row in rows
            .iter()
            .filter(|row| row.kind != ObjectKind::Column && row.id > last)
        {
            let sentence = format!(
                "object {} is above the header's last object, {last}",
                row.id
            );
            self.findings
                .add(FindingKind::Catalog, None, name, sentence);
        }
    }
}
