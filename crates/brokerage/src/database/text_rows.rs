//! What statements outside of transactions return: rows of texts.

/// The rows of a query outside of transactions; NULL is `None`.
pub(super) type TextRows = Vec<Vec<Option<String>>>;

/// The first column of the first row, if there is one.
pub(super) fn first_text(rows: &[Vec<Option<String>>]) -> Option<&str> {
    rows.first()?.first()?.as_deref()
}
