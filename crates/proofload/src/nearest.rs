//! What somebody may have meant by a name that does not exist.

/// The nearest of `names` to what was given, if one is near; of equally near ones the first.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let names = names.into_iter();
    names
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= 3)
        .map(|(_, name)| name)
}
