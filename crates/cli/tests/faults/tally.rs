//! How many of the pages that were harmed were found.

use super::pages::{HarmedPage, PageHarm, Pages};
use std::collections::BTreeMap;
use std::path::Path;

/// Errors of each class in a result.
pub fn error_counts(result: &serde_json::Value) -> BTreeMap<String, u64> {
    let counts = result["error_counts"].as_array().expect("counts");
    let count = |count: &serde_json::Value| {
        let class = count["class"].as_str().unwrap_or("none");
        (
            class.to_owned(),
            count["errors"].as_u64().expect("a number"),
        )
    };
    counts.iter().map(count).collect()
}

/// Pages that were harmed, and those of them that were not found: in ways that are found for certain, and
/// by an older page, which is not found where its version of 16 bits is the expected one by chance.
#[derive(Debug, Default)]
pub struct HarmTally {
    pub harmed: u64,
    pub missed: u64,
    pub older: u64,
    pub missed_older: u64,
}

impl HarmTally {
    /// Compares what was found with pages that are still as they were left: the load may have written
    /// over others before they were read.
    pub fn add(
        &mut self,
        result: &serde_json::Value,
        harmed: &BTreeMap<u32, HarmedPage>,
        file: &Path,
    ) {
        let found = error_counts(result);
        let now = Pages::read(file);
        let mut classes: BTreeMap<&[&str], (u64, u64)> = BTreeMap::new();
        for (&number, page) in harmed {
            let (all, left) = classes.entry(page.harm.classes()).or_default();
            *all += 1;
            *left += u64::from(now.page(number) == page.bytes);
        }
        for (names, (all, left)) in classes {
            let found: u64 = names.iter().filter_map(|&name| found.get(name)).sum();
            assert!(found <= all, "{names:?}: {found} of {all}");
            let missed = left.saturating_sub(found);
            self.harmed += all;
            match names == PageHarm::Older.classes() {
                true => {
                    self.older += all;
                    self.missed_older += missed;
                }
                false => self.missed += missed,
            }
        }
    }
}
