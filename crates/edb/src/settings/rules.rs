//! Rules between settings of the engine that are each right by themselves.

use config::ByteSize;

use super::{Engine, EngineSettings};

/// Fewer pages in the cache leave the engine alone nothing to evict.
const FEWEST_CACHE_PAGES: u64 = 64;

/// Log files are written in segments of 4 KiB and pre-filled in larger pieces.
const LOG_SEGMENT: ByteSize = ByteSize::kib(4);

/// A rule that settings of the engine break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// The settings it is about, as in a profile.
    pub paths: &'static [&'static str],
    /// What is wrong, in words.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl Engine {
    /// Every rule that the settings break; the cache must hold `fewest_cache_pages`.
    #[must_use]
    pub fn broken_rules(&self, fewest_cache_pages: u64) -> Vec<BrokenRule> {
        let mut broken = Vec::new();
        let mut report = |paths, message, help| {
            broken.push(BrokenRule {
                paths,
                message,
                help,
            });
        };
        self.check_pages(fewest_cache_pages, &mut report);
        self.check_log(&mut report);
        broken
    }

    fn check_pages(&self, fewest_cache_pages: u64, report: &mut Report<'_>) {
        let page = self.page_size;
        let is_page_size = (ByteSize::kib(4)..=ByteSize::kib(32)).contains(&page);
        if !is_page_size || !page.bytes().is_power_of_two() {
            let help = "write \"4KiB\", \"8KiB\", \"16KiB\" or \"32KiB\"";
            let message = format!("{page} is not a page size");
            return report(&["engine.page_size"], message, help.to_owned());
        }
        type Paths = &'static [&'static str];
        let coalesced: [(Paths, ByteSize, bool); 4] = [
            (
                &["engine.max_coalesced_read", "engine.page_size"],
                self.max_coalesced_read,
                true,
            ),
            (
                &["engine.max_coalesced_write", "engine.page_size"],
                self.max_coalesced_write,
                true,
            ),
            (
                &["engine.coalesce_read_gap", "engine.page_size"],
                self.coalesce_read_gap,
                false,
            ),
            (
                &["engine.coalesce_write_gap", "engine.page_size"],
                self.coalesce_write_gap,
                false,
            ),
        ];
        for (paths, size, one_at_least) in coalesced {
            let too_small = one_at_least && size < page;
            if too_small || !size.bytes().is_multiple_of(page.bytes()) {
                let right = ByteSize(size.bytes().max(1).next_multiple_of(page.bytes()));
                report(
                    paths,
                    format!("{} = {size} is not a number of pages of {page}", paths[0]),
                    format!("write a multiple of {page}, such as \"{right}\""),
                );
            }
        }
        let sizes: [(Paths, Option<ByteSize>); 2] = [
            (
                &["engine.cache_size_per_database", "engine.page_size"],
                Some(self.cache_size_per_database),
            ),
            (
                &["engine.cache_minimum_per_database", "engine.page_size"],
                self.cache_minimum_per_database,
            ),
        ];
        for (paths, size) in sizes {
            let pages = size.map(|size| size.bytes() / page.bytes());
            if let Some(pages) = pages.filter(|pages| *pages < fewest_cache_pages) {
                let right = ByteSize(fewest_cache_pages * page.bytes());
                report(
                    paths,
                    format!("a cache of {pages} pages is too small for the engine to work"),
                    format!("write \"{right}\" or more"),
                );
            }
        }
        if self.cache_minimum_per_database > Some(self.cache_size_per_database) {
            report(
                &[
                    "engine.cache_minimum_per_database",
                    "engine.cache_size_per_database",
                ],
                "the smallest size of the cache is above its size".to_owned(),
                format!("write \"{}\" or less", self.cache_size_per_database),
            );
        }
        if self.start_flush_percent >= self.stop_flush_percent {
            report(
                &["engine.start_flush_percent", "engine.stop_flush_percent"],
                "eviction would stop before it starts".to_owned(),
                "make engine.stop_flush_percent larger than engine.start_flush_percent".to_owned(),
            );
        }
    }

    fn check_log(&self, report: &mut Report<'_>) {
        let file = self.log_file_size;
        let whole: [(&'static [&'static str], ByteSize); 2] = [
            (&["engine.log_file_size"], file),
            (&["engine.log_buffer"], self.log_buffer),
        ];
        for (paths, size) in whole {
            if !size.bytes().is_multiple_of(LOG_SEGMENT.bytes()) {
                let right = ByteSize(size.bytes().next_multiple_of(LOG_SEGMENT.bytes()));
                report(
                    paths,
                    format!(
                        "{} = {size} is not a whole number of 4 KiB segments",
                        paths[0]
                    ),
                    format!("write a multiple of 4KiB, such as \"{right}\""),
                );
            }
        }
        let largest_records = ByteSize(3 * self.page_size.bytes());
        if file < largest_records {
            report(
                &["engine.log_file_size", "engine.page_size"],
                format!("a log file of {file} does not hold the largest records"),
                format!("write \"{largest_records}\" or more"),
            );
        }
        if self.checkpoint_depth < file {
            report(
                &["engine.checkpoint_depth", "engine.log_file_size"],
                format!(
                    "a checkpoint depth of {} is less than one log file of {file}",
                    self.checkpoint_depth
                ),
                "make engine.checkpoint_depth a few log files deep at least".to_owned(),
            );
        }
    }
}

/// Takes the paths, what is wrong, and what would be right.
type Report<'a> = dyn FnMut(&'static [&'static str], String, String) + 'a;

impl EngineSettings {
    /// Finds out whether an engine works with these settings.
    ///
    /// # Errors
    /// A whole sentence about the first rule that they break.
    pub fn check(&self) -> Result<(), String> {
        let broken = self.engine.broken_rules(FEWEST_CACHE_PAGES).into_iter();
        if let Some(rule) = broken.take(1).next() {
            let settings = rule.paths.join(" and ");
            return Err(format!("{settings}: {}; {}.", rule.message, rule.help));
        }
        let internals = &self.internals;
        for bytes in [
            internals.zero_fill_write_bytes,
            internals.log_replication_read_bytes,
        ] {
            if bytes == 0 || !bytes.is_multiple_of(LOG_SEGMENT.bytes()) {
                return Err("Zero fill and log replication need whole blocks of 4KiB.".to_owned());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_mistakes_are_named() {
        let mut settings = EngineSettings::default();
        assert_eq!(settings.check(), Ok(()));
        settings.engine.log_file_size = ByteSize(5000);
        let message = settings.check().unwrap_err();
        assert!(message.contains(&ByteSize(5000).to_string()), "{message}");
        settings.engine.log_file_size = ByteSize::kib(64);
        let message = settings.check().unwrap_err();
        assert!(message.contains("the largest records"), "{message}");
    }
}
