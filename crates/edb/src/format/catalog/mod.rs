//! The catalog: one row for each table, column, index and long value tree.
//!
//! [`CatalogRow`] is a row; [`rows_of_table`] describes a table, [`tables_of_rows`] reads the
//! description back, and [`system_rows`] are the rows the catalog holds about itself. The rows lie
//! in the tree `MSysObjects`, ordered by (table, type, id) so that all rows of a table are
//! together, and once more in `MSysObjectsShadow`.

mod row;
mod system;
mod table;

pub use row::{CatalogRow, ObjectKind, catalog_definition};
pub use system::{
    object_id_definition, object_id_key, object_id_row, shadow_definition, system_rows,
};
pub use table::{CatalogError, StoredTable, StoredTree, rows_of_table, tables_of_rows};
