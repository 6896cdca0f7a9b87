//! Holds what was written out against every rule, and leads complaints back to their lines.

use super::Expansion;
use crate::Complaint;
use crate::array::{ArrayError, check_places};
use crate::description::source::DescriptionFault;
use crate::group::BackendError;

/// More equal pools or groups than any array has.
const COUNT_MAX: u32 = 64;

/// More pools and groups than any array has.
const TABLES_MAX: usize = 256;

impl Expansion<'_> {
    /// Refuses numbers that would write out more than any array has.
    pub fn check_counts(&mut self) {
        let keys = &self.description.keys;
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
                self.fault(
                    key,
                    format!("an array has at most {TABLES_MAX} of these"),
                    None,
                );
            }
        }
        if keys.pool.is_empty() && keys.group.is_empty() {
            let help = "add a table [pool] with disk, disk_count and raid";
            self.fault("", "the array has no disks", Some(help));
        }
        let counts: Vec<(String, u32)> = keys
            .pool
            .iter()
            .enumerate()
            .flat_map(|(number, pool)| {
                [
                    (format!("pool.{number}.count"), pool.count),
                    (format!("pool.{number}.group_count"), pool.group_count),
                    (format!("pool.{number}.group"), 1 + pool.group.len() as u32),
                ]
            })
            .collect();
        for (path, count) in counts {
            if !(1..=COUNT_MAX).contains(&count) {
                let message = format!("there are from 1 to {COUNT_MAX} of these, not {count}");
                self.fault(&path, message, None);
            }
        }
    }

    /// Checks the settings; capacity only once nothing else is wrong.
    pub fn check_settings(&mut self) {
        let before = self.faults.clone();
        // The array's own disks are checked even where no group uses them.
        for (name, disk) in &self.description.keys.disks {
            let of_no_group = !self.settings.disks.contains_key(name);
            for complaint in disk.check().into_iter().filter(|_| of_no_group) {
                let path = format!("disks.{name}.{}", complaint.path);
                let fault = self.description.fault(&path, complaint.message, None);
                self.add_fault(fault);
            }
        }
        let mut complaints = self.settings.check();
        if !before.is_empty() {
            // Those that could not be placed are missing.
            complaints.retain(|complaint| complaint.path != "volumes");
        }
        self.lead_back(complaints, &before);
        if self.faults.is_empty() {
            match check_places(&self.settings) {
                Ok(complaints) | Err(ArrayError::Settings(complaints)) => {
                    self.lead_back(complaints, &before);
                }
                Err(ArrayError::Backend(BackendError::Settings { complaints })) => {
                    let complaints = complaints.into_iter().map(|complaint| {
                        Complaint::new(format!("backend.{}", complaint.path), complaint.message)
                    });
                    self.lead_back(complaints.collect(), &before);
                }
                Err(other) => self.fault("", other.to_string(), None),
            }
        }
    }

    /// Turns complaints about settings into faults of keys, but for those at places where something was
    /// wrong `before`, of which they are consequences.
    fn lead_back(&mut self, complaints: Vec<Complaint>, before: &[DescriptionFault]) {
        for complaint in complaints {
            let path = self.key_of(&complaint.path);
            let fault = self.description.fault(&path, complaint.message, None);
            let is_known = |known: &DescriptionFault| known.place == fault.place;
            if !before.iter().any(is_known) {
                self.add_fault(fault);
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
