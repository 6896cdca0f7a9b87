//! `[mail]`: how many mailboxes there are and what their users do.

use super::quantity::{ByteSize, TimeSpan};
use super::setting::{OrWord, Setting, SettingVisitor, Switch, Within};

/// The mail load.
#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    /// Databases under test, dealt out over the targets in turn.
    pub databases: u32,
    /// Mailboxes in each database.
    pub mailboxes_per_database: u32,
    /// Data in one mailbox.
    pub mailbox_size: ByteSize,
    /// Database reads and writes per second that one mailbox asks for.
    pub iops_per_mailbox: f64,
    /// Sessions over all databases; `None` lets the tuner find the number.
    pub threads: Option<u32>,
    /// Pause of a session after each transaction.
    pub session_pause: TimeSpan,
    /// Pause of a session after each transaction, as a multiple of the time it took.
    pub session_pause_factor: f64,
    /// Copies of each database, that under test among them.
    pub copies_per_database: u32,
    /// Free space set aside for growth, as percent of the data.
    pub growth_reserve_percent: f64,
    /// What the operations are.
    pub mix: Mix,
    /// What a mail item looks like.
    pub item: Item,
    /// Where in the database the operations fall.
    pub access: Access,
}

/// `[mail.mix]`: the shares of the operations. What insert, delete, replace and scan leave are reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Operations that insert an item.
    pub insert_percent: f64,
    /// Operations that delete an item.
    pub delete_percent: f64,
    /// Operations that replace columns of an item.
    pub replace_percent: f64,
    /// Operations that read a range of items in key order.
    pub scan_percent: f64,
    /// Items that one scan reads.
    pub scan_items: u32,
    /// Whether scans read ahead.
    pub scan_read_ahead: bool,
    /// Operations in one transaction.
    pub operations_per_transaction: u32,
    /// Changing transactions that do not wait for the log.
    pub lazy_commit_percent: f64,
    /// Longest time until a lazy commit is on stable storage.
    pub lazy_commit_window: TimeSpan,
}

/// `[mail.item]`: the shape of one mail item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Bytes in the short column, kept in the row itself.
    pub short_bytes: u32,
    /// Bytes in the long column.
    pub long_bytes: u32,
    /// Whether a replace rewrites the long column as well as the short one.
    pub replace_long: bool,
    /// Whether a read fetches the long column.
    pub read_long: bool,
    /// Whether a scan fetches the long column.
    pub scan_long: bool,
    /// Reads that find the item through the secondary index; the others use its key.
    pub read_by_index_percent: f64,
    /// Share of the items' bytes that a compressing array can squeeze out.
    pub compressible_percent: f64,
    /// How full the building of a database leaves its pages.
    pub page_fill_percent: f64,
}

/// `[mail.access]`: the hot set. With `hot_data_percent` at 100 every item is as likely as any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Share of the items that form the hot set.
    pub hot_data_percent: f64,
    /// Share of the operations that fall into the hot set.
    pub hot_access_percent: f64,
}

impl Default for Mail {
    fn default() -> Self {
        Self {
            databases: 4,
            mailboxes_per_database: 250,
            mailbox_size: ByteSize::gib(2),
            iops_per_mailbox: 0.1,
            threads: None,
            session_pause: TimeSpan(0),
            session_pause_factor: 1.0,
            copies_per_database: 1,
            growth_reserve_percent: 25.0,
            mix: Mix::default(),
            item: Item::default(),
            access: Access::default(),
        }
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            insert_percent: 40.0,
            delete_percent: 20.0,
            replace_percent: 5.0,
            scan_percent: 0.0,
            scan_items: 100,
            scan_read_ahead: true,
            operations_per_transaction: 1,
            lazy_commit_percent: 70.0,
            lazy_commit_window: TimeSpan::seconds(1),
        }
    }
}

impl Default for Item {
    fn default() -> Self {
        Self {
            short_bytes: 200,
            long_bytes: 2000,
            replace_long: true,
            read_long: false,
            scan_long: false,
            read_by_index_percent: 100.0,
            compressible_percent: 0.0,
            page_fill_percent: 90.0,
        }
    }
}

impl Default for Access {
    fn default() -> Self {
        Self {
            hot_data_percent: 100.0,
            hot_access_percent: 100.0,
        }
    }
}

impl Mail {
    /// Mailboxes over all databases.
    #[must_use]
    pub fn mailboxes(&self) -> u64 {
        u64::from(self.databases) * u64::from(self.mailboxes_per_database)
    }

    /// Data in one database before the run, without the growth reserve.
    #[must_use]
    pub fn database_bytes(&self) -> u64 {
        u64::from(self.mailboxes_per_database).saturating_mul(self.mailbox_size.bytes())
    }

    /// Data in one database with the growth reserve.
    #[must_use]
    pub fn reserved_database_bytes(&self) -> u64 {
        let reserved = self.database_bytes() as f64 * (1.0 + self.growth_reserve_percent / 100.0);
        // A float conversion saturates, so an absurd profile asks for an absurd amount of space.
        reserved.ceil() as u64
    }

    /// Data over all databases before the run.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.database_bytes()
            .saturating_mul(u64::from(self.databases))
    }

    /// Database reads and writes per second that all mailboxes ask for together.
    #[must_use]
    pub fn target_iops(&self) -> f64 {
        self.mailboxes() as f64 * self.iops_per_mailbox
    }

    /// Shrinks or grows the mailboxes so that all databases together hold about `total` bytes.
    /// Their number stays, and with it the rate to reach: the whole load falls on less data.
    pub fn scale_to(&mut self, total: ByteSize) {
        let mailboxes = self.mailboxes().max(1);
        self.mailbox_size = ByteSize((total.bytes() / mailboxes).max(1));
    }

    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "mail",
            "How many mailboxes there are, and how much they ask for.",
        );
        v.setting(Setting {
            key: "databases",
            value: &mut Within(&mut self.databases, 1..=1024),
            meaning: "Databases under test, dealt out over the directories of --on in turn.",
            source: "A setting; common servers hold from 4 databases up.",
        });
        v.setting(Setting {
            key: "mailboxes_per_database",
            value: &mut Within(&mut self.mailboxes_per_database, 1..=10_000_000),
            meaning: "Mailboxes in each database.",
            source: "A setting; take it from your own plan.",
        });
        v.setting(Setting {
            key: "mailbox_size",
            value: &mut Within(
                &mut self.mailbox_size,
                ByteSize::kib(64)..=ByteSize::gib(16384),
            ),
            meaning: "Data in one mailbox. Mailboxes times size is what a build writes.",
            source: "The 2 GB mailbox of Microsoft's Exchange 2010 sizing example.",
        });
        v.setting(Setting {
            key: "iops_per_mailbox",
            value: &mut Within(&mut self.iops_per_mailbox, 0.0..=1000.0),
            meaning: "Database reads and writes per second that one mailbox asks for, log and \
                      maintenance not counted. Times the mailboxes it is the rate to reach.",
            source: "About 150 messages sent and received a day in the Exchange 2013 sizing table, \
                     unconfirmed.",
        });
        v.setting(Setting {
            key: "threads",
            value: &mut OrWord {
                word: "auto",
                value: &mut self.threads,
                range: 1..=65_536,
            },
            meaning: "Sessions over all databases, each running one transaction after the other. \
                      \"auto\" finds the number that reaches the rate (see [tuning]).",
            source: "Jetstress 2013 counts threads over all databases and tunes them by default.",
        });
        v.setting(Setting {
            key: "session_pause",
            value: &mut Within(&mut self.session_pause, TimeSpan(0)..=TimeSpan::seconds(60)),
            meaning: "Pause of a session after each transaction, beside that of \
                      session_pause_factor; a longer one makes a thread ask for less. Without \
                      effect while a rate is held.",
            source: "A setting.",
        });
        v.setting(Setting {
            key: "session_pause_factor",
            value: &mut Within(&mut self.session_pause_factor, 0.0..=100.0),
            meaning: "Pause of a session after each transaction, as a multiple of the time that \
                      the transaction took, its commit included. At 1 a session is busy half of \
                      the time: two threads keep one request outstanding. At 0 sessions never \
                      rest. Without effect while a rate is held.",
            source: "JetstressConfig.xml 2013, SluggishSessions 1: a pause factor in each thread. \
                     That it multiplies the time of the operation is inferred: threads times \
                     1 / (1 + factor) are the reads outstanding in the published evaluations of \
                     the MSA 2040 and 2050.",
        });
        v.setting(Setting {
            key: "copies_per_database",
            value: &mut Within(&mut self.copies_per_database, 1..=16),
            meaning: "Copies of each database, that under test among them. For every further one \
                      each full log file is read once, in reads of 256 KiB: the log replication \
                      reads.",
            source: "JetstressConfig.xml 2013, DatabaseCopyCount; a plain test has 1. How often \
                     and in what size Jetstress reads is unconfirmed.",
        });
        v.setting(Setting {
            key: "growth_reserve_percent",
            value: &mut Within(&mut self.growth_reserve_percent, 0.0..=1000.0),
            meaning: "Free space that must be there for growth, as percent of the data.",
            source: "JetstressConfig.xml 2013, DatabaseSpaceReserved.",
        });
        self.mix.visit(v);
        self.item.visit(v);
        self.access.visit(v);
    }
}

impl Mix {
    /// The share that insert, delete, replace and scan leave for single reads.
    #[must_use]
    pub fn read_percent(&self) -> f64 {
        100.0 - self.insert_percent - self.delete_percent - self.replace_percent - self.scan_percent
    }

    fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "mail.mix",
            "The shares of the operations. What insert, delete, replace and scan leave are reads.",
        );
        v.setting(Setting {
            key: "insert_percent",
            value: &mut Within(&mut self.insert_percent, 0.0..=100.0),
            meaning: "Operations that insert an item.",
            source: "JetstressConfig.xml 2013, InsertOps.",
        });
        v.setting(Setting {
            key: "delete_percent",
            value: &mut Within(&mut self.delete_percent, 0.0..=100.0),
            meaning: "Operations that find an item and delete it.",
            source: "JetstressConfig.xml 2013, DeleteOps.",
        });
        v.setting(Setting {
            key: "replace_percent",
            value: &mut Within(&mut self.replace_percent, 0.0..=100.0),
            meaning: "Operations that find an item and replace its columns.",
            source: "JetstressConfig.xml 2013, ReplaceOps.",
        });
        v.setting(Setting {
            key: "scan_percent",
            value: &mut Within(&mut self.scan_percent, 0.0..=100.0),
            meaning: "Operations that read a range of items in key order.",
            source: "JetstressConfig.xml 2013, ScanPercentage.",
        });
        v.setting(Setting {
            key: "scan_items",
            value: &mut Within(&mut self.scan_items, 1..=1_000_000),
            meaning: "Items that one scan reads.",
            source: "A setting.",
        });
        v.setting(Setting {
            key: "scan_read_ahead",
            value: &mut Switch(&mut self.scan_read_ahead),
            meaning: "Whether a scan reads the coming pages ahead.",
            source: "JetstressConfig.xml 2013, PrereadOnScan.",
        });
        v.setting(Setting {
            key: "operations_per_transaction",
            value: &mut Within(&mut self.operations_per_transaction, 1..=10_000),
            meaning: "Operations in one transaction.",
            source: "JetstressConfig.xml 2013 has BatchRecords 1 and BatchUpdates 16, whose exact \
                     meaning is not published; one keeps its ratio of database to log I/O.",
        });
        v.setting(Setting {
            key: "lazy_commit_percent",
            value: &mut Within(&mut self.lazy_commit_percent, 0.0..=100.0),
            meaning: "Changing transactions whose commit does not wait for the log.",
            source: "JetstressConfig.xml 2013, LazyCommits.",
        });
        v.setting(Setting {
            key: "lazy_commit_window",
            value: &mut Within(
                &mut self.lazy_commit_window,
                TimeSpan::millis(1)..=TimeSpan::seconds(60),
            ),
            meaning: "Longest time until a lazy commit is on stable storage.",
            source: "Unconfirmed, a setting.",
        });
    }
}

impl Item {
    fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "mail.item",
            "The shape of one mail item, and how much of it a read fetches.",
        );
        v.setting(Setting {
            key: "short_bytes",
            value: &mut Within(&mut self.short_bytes, 1..=1024),
            meaning: "Bytes in the short column, kept in the row itself.",
            source: "JetstressConfig.xml 2013, ShortPadLength.",
        });
        v.setting(Setting {
            key: "long_bytes",
            value: &mut Within(&mut self.long_bytes, 1..=1 << 20),
            meaning: "Bytes in the long column.",
            source: "JetstressConfig.xml 2013, LongPadLength.",
        });
        v.setting(Setting {
            key: "replace_long",
            value: &mut Switch(&mut self.replace_long),
            meaning: "Whether a replace rewrites the long column as well as the short one.",
            source: "JetstressConfig.xml 2013, UpdateLV.",
        });
        v.setting(Setting {
            key: "read_long",
            value: &mut Switch(&mut self.read_long),
            meaning: "Whether a read fetches the long column.",
            source: "JetstressConfig.xml 2013, RetrieveLVOnRead.",
        });
        v.setting(Setting {
            key: "scan_long",
            value: &mut Switch(&mut self.scan_long),
            meaning: "Whether a scan fetches the long column of its items.",
            source: "JetstressConfig.xml 2013, RetrieveLVOnScan.",
        });
        v.setting(Setting {
            key: "read_by_index_percent",
            value: &mut Within(&mut self.read_by_index_percent, 0.0..=100.0),
            meaning: "Reads that find their item through the secondary index; the others use its \
                      key.",
            source: "Unconfirmed, a setting.",
        });
        v.setting(Setting {
            key: "compressible_percent",
            value: &mut Within(&mut self.compressible_percent, 0.0..=100.0),
            meaning: "Share of the items' bytes that a compressing array can squeeze out. Each \
                      database has data of its own, so nothing deduplicates.",
            source: "A setting; at 0 compression cannot flatter the storage.",
        });
        v.setting(Setting {
            key: "page_fill_percent",
            value: &mut Within(&mut self.page_fill_percent, 50.0..=100.0),
            meaning: "How full the building of a database leaves its pages.",
            source: "A setting; an aged mail database has some room in its pages.",
        });
    }
}

impl Access {
    /// Whether every item is as likely as any other.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.hot_data_percent >= 100.0
    }

    fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "mail.access",
            "The hot set. With hot_data_percent at 100 every item is as likely as any other.",
        );
        v.setting(Setting {
            key: "hot_data_percent",
            value: &mut Within(&mut self.hot_data_percent, 0.001..=100.0),
            meaning: "Share of the items that form the hot set; 100 means none is hotter.",
            source: "Jetstress is uniform over the whole database. Real mail touches about 10 \
                     percent of its data a day.",
        });
        v.setting(Setting {
            key: "hot_access_percent",
            value: &mut Within(&mut self.hot_access_percent, 0.0..=100.0),
            meaning: "Share of the operations that fall into the hot set.",
            source: "A setting, without effect while hot_data_percent is 100.",
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_keeps_the_mailboxes_and_their_load() {
        let mut mail = Mail::default();
        let (mailboxes, target_iops) = (mail.mailboxes(), mail.target_iops());
        for total in [ByteSize::gib(1), ByteSize::gib(24), ByteSize::gib(9000)] {
            mail.scale_to(total);
            assert_eq!(mail.mailboxes(), mailboxes);
            assert!((mail.target_iops() - target_iops).abs() < 1e-9);
            let off = total.bytes() - mail.total_bytes();
            assert!(off < mailboxes, "{off} bytes are lost to rounding");
        }
    }
}
