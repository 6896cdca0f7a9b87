//! The whole check, step by step.

use runtime::File;

use super::checker::Checker;
use super::finding::{Finding, FindingKind, Findings};
use super::space::TreeSpace;
use super::walk::TreeFacts;
use crate::format::catalog::StoredTable;
use crate::format::database_header::{DatabaseState, Writer};
use crate::format::layout::{
    CATALOG, CATALOG_NAME_INDEX, CATALOG_ROOT_INDEX, CATALOG_SHADOW, DATABASE_ROOT, LOCALES,
    OBJECT_IDS, SystemTree,
};
use crate::format::page::{PageDamage, PageFlags};
use crate::integrity::DbtimeRange;
use crate::reading::{CheckError, PageProblem, Reader};

/// Pages that no tree uses, read in one request.
const SCAN_PAGES: u32 = 16;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// What is wrong, at most 1,000 findings.
    pub findings: Vec<Finding>,
    /// Number of findings that were only counted because there are 1,000 in `findings`.
    pub further_findings: u64,
    /// Pages that are part of a tree.
    pub used_pages: u64,
    /// Page slots in the file.
    pub file_pages: u64,
    /// Rows in user tables.
    pub rows: u64,
    /// Nodes with the deleted flag, which nobody sees and which take up space. The engine removes
    /// them before it closes a database, unless their page could not be read; the Extensible
    /// Storage Engine of Windows may leave some for its background maintenance.
    pub deleted_nodes: u64,
    /// Who wrote the file: of others' files, less can be known.
    pub writer: Writer,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Checks a database that was closed properly. `progress` is called with the pages looked at so
/// far and their expected number.
///
/// # Errors
/// If the file is no clean database, so that a check would say nothing, or the storage fails.
pub async fn check<F: File>(
    file: &F,
    progress: impl FnMut(u64, u64) + 'static,
) -> Result<CheckReport, CheckError> {
    let reader = Reader::open(file).await?;
    let name = reader.file_name();
    match reader.header.state {
        DatabaseState::Clean => {}
        DatabaseState::Dirty => {
            let writer = reader.header.writer;
            return Err(CheckError::NotClean { file: name, writer });
        }
        DatabaseState::JustCreated => return Err(CheckError::Unfinished { file: name }),
    }
    let mut checker = Checker::new(reader, Box::new(progress));
    checker.check_headers();
    match checker.reader.header.writer {
        Writer::Proofload => {
            checker.check_owner().await;
            checker.check_all().await;
        }
        Writer::Other => checker.check_other_trees().await,
    }
    let used_pages = checker.reached.iter().count() as u64;
    Ok(CheckReport {
        findings: checker.findings.kept,
        further_findings: checker.findings.further,
        used_pages,
        file_pages: u64::from(checker.reader.last_page),
        rows: checker.rows,
        deleted_nodes: checker.deleted_nodes,
        writer: checker.reader.header.writer,
    })
}

/// A tree with its space.
pub(super) type KnownTree = (TreeFacts, TreeSpace);

/// All trees of one user table.
pub(super) struct KnownTable {
    pub(super) stored: StoredTable,
    pub(super) rows: KnownTree,
    pub(super) indexes: Vec<KnownTree>,
    pub(super) long_values: Option<KnownTree>,
}

impl<F: File> Checker<F> {
    fn check_headers(&mut self) {
        let (first, second, same) = self.reader.header_copies;
        for (copy, which) in [(first, "first"), (second, "second")] {
            if let Err(damage) = copy {
                let sentence = format!("the {which} header is damaged: {damage}");
                self.findings.add(FindingKind::Header, None, "", sentence);
            }
        }
        if let Some(foreign) = &self.reader.foreign_header {
            let sentence = foreign.problem.clone();
            self.findings.add(FindingKind::Header, None, "", sentence);
            return;
        }
        let both = self.reader.header_copies.0.is_ok() && self.reader.header_copies.1.is_ok();
        if both && !same {
            let sentence = "the two copies of the header differ";
            self.findings.add(FindingKind::Header, None, "", sentence);
        }
    }

    /// Each database has database times of its own: the root page shows whether the headers are of the same one.
    async fn check_owner(&mut self) {
        let header = &self.reader.header;
        let range = DbtimeRange::of_existing(header.signature, header.dbtime);
        let Ok(root) = self.reader.page(DATABASE_ROOT.root).await else {
            return; // The walk of its tree says why.
        };
        let dbtime = root.view().dbtime();
        if !range.contains(dbtime) {
            let sentence = format!(
                "the headers are those of another database: the root page is of database time {dbtime}, and that \
                 database has times from {} to {}",
                range.base, header.dbtime
            );
            self.findings.add(FindingKind::Header, None, "", sentence);
        }
    }

    /// Everything, in a file of which no byte is without meaning.
    async fn check_all(&mut self) {
        self.check_trees().await;
        if self.space_complete && self.trees_complete {
            self.report_leaks();
        }
        self.scan_unused().await;
    }

    async fn check_trees(&mut self) {
        let (root, root_space) = self.known_system(DATABASE_ROOT, None, 0).await;
        let under_root = Some((root.root, &root_space));
        let (catalog, catalog_space) = self.known_system(CATALOG, under_root, 1).await;
        let under_catalog = Some((catalog.root, &catalog_space));
        let names = self
            .known_system(CATALOG_NAME_INDEX, under_catalog, 2)
            .await
            .0;
        let roots = self
            .known_system(CATALOG_ROOT_INDEX, under_catalog, 2)
            .await
            .0;
        let shadow = self.known_system(CATALOG_SHADOW, under_root, 1).await.0;
        let objects = self.known_system(OBJECT_IDS, under_root, 1).await.0;
        let locales = self.known_system(LOCALES, under_root, 1).await.0;
        for tree in [&root, &objects, &locales] {
            let complete = self.walk(tree, &mut |_, _, _| ()).await.complete;
            self.trees_complete &= complete;
        }
        let stored = self.read_catalog(&catalog, &shadow, &names, &roots).await;
        let Some(stored) = stored else {
            self.trees_complete = false;
            return;
        };
        let mut tables = Vec::new();
        for table in stored {
            tables.push(self.known_table(table, &root_space).await);
        }
        for table in &tables {
            self.check_table(table).await;
        }
        self.report_free_but_used();
    }

    /// The facts and the space of a tree, noted in the maps of the file.
    pub(super) async fn known(
        &mut self,
        mut facts: TreeFacts,
        parent: Option<(u32, &TreeSpace)>,
        depth: usize,
    ) -> KnownTree {
        let space = self.space_of(&facts, parent).await;
        self.note_space(&facts, &space, depth);
        facts.owned = space.complete.then(|| space.owned.clone());
        (facts, space)
    }

    pub(super) async fn known_system(
        &mut self,
        tree: SystemTree,
        parent: Option<(u32, &TreeSpace)>,
        depth: usize,
    ) -> KnownTree {
        self.known(system_facts(tree), parent, depth).await
    }

    async fn known_table(&mut self, stored: StoredTable, root_space: &TreeSpace) -> KnownTable {
        let facts = table_facts(&stored);
        let rows = self
            .known(facts.rows, Some((DATABASE_ROOT.root, root_space)), 1)
            .await;
        let under_table = Some((rows.0.root, &rows.1));
        let mut indexes = Vec::new();
        for index in facts.indexes {
            indexes.push(self.known(index, under_table, 2).await);
        }
        let mut long_values = None;
        if let Some(facts) = facts.long_values {
            long_values = Some(self.known(facts, under_table, 2).await);
        }
        KnownTable {
            stored,
            rows,
            indexes,
            long_values,
        }
    }

    /// What the walks cannot see: pages of extent trees, which come before the free pages are
    /// known.
    pub(super) fn report_free_but_used(&mut self) {
        let seen = |page: u32, findings: &Findings| {
            let known = |f: &Finding| f.kind == FindingKind::UsedAndFree && f.page == Some(page);
            findings.kept.iter().any(known)
        };
        let both: Vec<u32> = self
            .available
            .iter()
            .filter(|page| self.reached.contains(*page))
            .take(1000)
            .collect();
        for page in both {
            if !seen(page, &self.findings) {
                let sentence = "it is in use, but listed as free";
                self.findings
                    .add(FindingKind::UsedAndFree, Some(page), "", sentence);
            }
        }
    }

    /// Verifies the pages no tree uses. Those never written are as they should be.
    async fn scan_unused(&mut self) {
        let mut page = 1;
        while page <= self.reader.last_page {
            let unused = |number: &u32| !self.reached.contains(*number);
            let end = page
                .saturating_add(SCAN_PAGES)
                .min(self.reader.last_page + 1);
            let run = (page..end).take_while(unused).count() as u32;
            if run == 0 {
                page += 1;
                continue;
            }
            for (result, number) in self.reader.pages(page, run).await.into_iter().zip(page..) {
                match result {
                    Ok(_) | Err(PageProblem::Damage(PageDamage::NeverWritten)) => {}
                    Err(problem) => self.report_problem(number, "", &problem),
                }
            }
            page += run;
            self.advance(run);
        }
    }
}

/// The facts of all trees of a table.
pub(super) struct TableFacts {
    pub(super) rows: TreeFacts,
    pub(super) indexes: Vec<TreeFacts>,
    pub(super) long_values: Option<TreeFacts>,
}

pub(super) fn table_facts(stored: &StoredTable) -> TableFacts {
    let table = &stored.definition.name;
    let facts = |name: String, tree: crate::format::catalog::StoredTree, flags| TreeFacts {
        name,
        object_id: tree.object_id,
        root: tree.root,
        flags,
        owned: None,
    };
    let secondary = stored
        .definition
        .indexes
        .iter()
        .skip(1)
        .zip(&stored.indexes);
    TableFacts {
        rows: facts(format!("table {table}"), stored.tree, PageFlags::default()),
        indexes: secondary
            .map(|(index, tree)| {
                facts(
                    format!("index {} of table {table}", index.name),
                    *tree,
                    PageFlags::INDEX,
                )
            })
            .collect(),
        long_values: stored.long_values.map(|tree| {
            facts(
                format!("long values of table {table}"),
                tree,
                PageFlags::LONG_VALUE,
            )
        }),
    }
}

pub(super) fn system_facts(tree: SystemTree) -> TreeFacts {
    let index = tree.parent_root == CATALOG.root;
    let kind = match tree.root {
        root if root == DATABASE_ROOT.root => String::new(),
        _ if index => format!("index of {}, ", CATALOG.name),
        _ => "table ".to_owned(),
    };
    TreeFacts {
        name: format!("{kind}{}", tree.name),
        object_id: tree.object_id,
        root: tree.root,
        flags: if index {
            PageFlags::INDEX
        } else {
            PageFlags::default()
        },
        owned: None,
    }
}
