//! VolumeUse what was written out against every rule, and leads broken rules back to their lines.

use super::Expansion;
use crate::BrokenRule;
use crate::array::{ArrayError, check_places};
use crate::description::keys::COUNT_MAX;
use crate::group::BackendError;

/// More pools and groups than any array has.
const TABLES_MAX: usize = 256;

impl Expansion<'_> {
    /// Refuses numbers that would write out more than any array has.
    pub fn check_counts(&mut self) {
        let keys = &self.document.settings;
        let tables = [
            ("pool", keys.pool.len()),
            ("group", keys.group.len()),
            (
                "volume",
                keys.volume.len().saturating_sub(usize::from(u16::MAX)),
            ),
        ];
        for (key, count) in tables {
            if count > TABLES_MAX {
                self.report(
                    key,
                    format!("an array has at most {TABLES_MAX} of these"),
                    None,
                );
            }
        }
        if keys.pool.is_empty() && keys.group.is_empty() {
            let help = "add a table [pool] with disk, disk_count and raid";
            self.report("", "the array has no disks", Some(help));
        }
        for (number, pool) in keys.pool.iter().enumerate() {
            if pool.group.len() >= COUNT_MAX as usize {
                let message = format!("a pool has fewer than {COUNT_MAX} of these");
                self.report(&format!("pool.{number}.group"), message, None);
            }
        }
    }

    /// Checks the settings; capacity only once nothing else is wrong.
    pub fn check_settings(&mut self) {
        let before = self.diagnostics.clone();
        // The array's own disks are checked even where no group uses them.
        for (name, disk) in &self.document.settings.disks {
            let of_no_group = !self.settings.disks.contains_key(name);
            for rule in disk.check().into_iter().filter(|_| of_no_group) {
                let path = format!("disks.{name}.{}", rule.path);
                self.report(&path, rule.message, None);
            }
        }
        let mut broken_rules = self.settings.check();
        if !before.is_empty() {
            // Those that could not be placed are missing.
            broken_rules.retain(|rule| rule.path != "volumes");
        }
        self.lead_back(broken_rules, &before);
        if self.diagnostics.is_empty() {
            match check_places(&self.settings) {
                Ok(broken_rules) | Err(ArrayError::Settings(broken_rules)) => {
                    self.lead_back(broken_rules, &before);
                }
                Err(ArrayError::Backend(BackendError::Settings { broken_rules })) => {
                    let broken_rules = broken_rules.into_iter().map(|rule| {
                        BrokenRule::new(format!("backend.{}", rule.path), rule.message)
                    });
                    self.lead_back(broken_rules.collect(), &before);
                }
                Err(other) => self.report("", other.to_string(), None),
            }
        }
    }

    /// Reports broken rules of settings at the keys they came from, but for those at places where
    /// something was wrong `before`, of which they are consequences.
    fn lead_back(&mut self, broken_rules: Vec<BrokenRule>, before: &[config::Diagnostic]) {
        for rule in broken_rules {
            let path = self.key_of(&rule.path);
            let location = self.document.location(&path);
            if !before.iter().any(|known| known.location == location) {
                self.report(&path, rule.message, None);
            }
        }
    }

    /// The key that a setting came from.
    fn key_of(&self, setting: &str) -> String {
        let mut upper = setting;
        loop {
            if let Some(key) = self.origins.get(upper) {
                return format!("{key}{}", &setting[upper.len()..]);
            }
            match upper.rfind('.') {
                Some(dot) => upper = &upper[..dot],
                None => return setting.to_owned(),
            }
        }
    }
}
