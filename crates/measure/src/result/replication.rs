//! Passive copies of the databases: how they were made, and how they followed.

use serde::{Deserialize, Serialize};

/// The passive copies of all databases.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplicationResult {
    /// Where the copies are (--copy-to).
    pub copied_to: String,
    /// How long seeding took, from the start of the first copy to the end of the last one.
    pub seeding_s: f64,
    /// One entry for each database.
    pub databases: Vec<ReplicatedDatabase>,
}

/// The passive copy of one database.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplicatedDatabase {
    /// Name of the database.
    pub name: String,
    /// Path of the copy.
    pub path: String,
    /// Bytes of pages that were read, verified and written to the copy by seeding.
    pub seeded_bytes: u64,
    /// How long that took.
    pub seeding_s: f64,
    /// Log files shipped until the load ended.
    pub shipped_log_files: u64,
    /// Log files replayed until then.
    pub replayed_log_files: u64,
    /// Full log files that were not shipped yet when the load ended.
    pub copy_queue: u64,
    /// Most of them at one time.
    pub copy_queue_max: u64,
    /// Shipped log files that were not replayed yet when the load ended.
    pub replay_queue: u64,
    /// Most of them at one time.
    pub replay_queue_max: u64,
    /// From the end of the database until its copy had replayed and written everything; null when it did
    /// not.
    pub caught_up_s: Option<f64>,
    /// Pages of the copy that were compared with those of the database, headers not counted; null when
    /// they were not.
    pub compared_pages: Option<u64>,
    /// Pages of the copy whose checksum is wrong.
    pub wrong_pages: u64,
    /// Pages that are not the same in both.
    pub different_pages: u64,
    /// Whether the log of the copy ends where that of the database does; null when nothing was compared.
    pub same_log_position: Option<bool>,
    /// Why there is no copy, it did not follow its database to the end or could not be compared, as a
    /// sentence; empty when it did and could.
    pub problem: String,
}

impl ReplicatedDatabase {
    /// What is wrong with the copy, all kinds together; `None` when nothing is known of it.
    pub fn errors(&self) -> Option<u64> {
        let failed = u64::from(!self.problem.is_empty());
        if failed == 0 {
            self.compared_pages?;
        }
        let position = u64::from(self.same_log_position == Some(false));
        Some(failed + self.wrong_pages.max(self.different_pages) + position)
    }
}

impl ReplicationResult {
    /// Bytes of all copies per second while they were seeded; `None` when it took no time.
    pub fn seeding_bytes_per_second(&self) -> Option<f64> {
        let bytes: u64 = self.databases.iter().map(|one| one.seeded_bytes).sum();
        (self.seeding_s > 0.0).then(|| bytes as f64 / self.seeding_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_without_errors_is_one_that_was_compared() {
        let mut database = ReplicatedDatabase::default();
        assert_eq!(database.errors(), None);
        database.compared_pages = Some(100);
        database.same_log_position = Some(true);
        assert_eq!(database.errors(), Some(0));
        database.different_pages = 3;
        database.same_log_position = Some(false);
        assert_eq!(database.errors(), Some(4));
        let suspended = ReplicatedDatabase {
            problem: "Replication is suspended.".to_owned(),
            ..ReplicatedDatabase::default()
        };
        assert_eq!(suspended.errors(), Some(1));
    }
}
