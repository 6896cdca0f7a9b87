//! `[mail]`: how many mailboxes there are and what their users do.

use std::ops::RangeInclusive;

use config::{ByteSize, TimeSpan, list, or_word, settings, within};

/// Sizes of a mailbox. Options that stand for a size of all data keep to them as well, so that what
/// they lead to can be read back.
pub(crate) const MAILBOX_SIZES: RangeInclusive<ByteSize> = ByteSize::kib(1)..=ByteSize::gib(16_384);
/// Mailboxes of one database.
pub(crate) const MAILBOXES: RangeInclusive<u32> = 1..=10_000_000;

settings! {
    /// How many mailboxes there are, and how much they ask for.
    pub struct Mail {
        /// Databases under test, distributed over the directories of --on in turn.
        pub databases: u32 = 4,
            as within(1..=1024), source "A setting; common servers hold from 4 databases up.";
        /// Mailboxes in each database.
        pub mailboxes_per_database: u32 = 250,
            as within(MAILBOXES), source "A setting; take it from your own plan.";
        /// Data in one mailbox. Mailboxes times size is what a build writes.
        pub mailbox_size: ByteSize = ByteSize::gib(2),
            as within(MAILBOX_SIZES), source "The 2 GB mailbox of Microsoft's Exchange 2010 sizing example.";
        /// Database reads and writes per second that one mailbox asks for, log and maintenance not
        /// counted. Times the mailboxes it is the target rate.
        pub iops_per_mailbox: f64 = 0.1,
            as within(0.0..=1000.0),
            source "About 150 messages sent and received a day in the Exchange 2013 sizing table, \
                unconfirmed.";
        /// Sessions over all databases, each running one transaction after the other. "auto" finds
        /// the number that reaches the rate (see [tuning]); where a rate is held, up to 64 for each
        /// database take its transactions.
        pub threads: Option<u32> = None,
            as or_word("auto", within(1..=65_536)),
            source "Jetstress 2013 counts threads over all databases and tunes them by default.";
        /// Sessions of each database that work on it alone, instead of "threads" over all of them.
        /// "none" lets sessions go round the databases. Without effect while a rate is held.
        pub threads_per_database: Option<u32> = None,
            as or_word("none", within(1..=4096)),
            source "Jetstress 2007 and 2010 count threads per storage group or database.";
        /// Weight of each database in the load, in their order, such as [1, 1, 2]: it gets this part of
        /// the transactions of a held rate. Where none is held, CPU threads share the sessions by weight,
        /// and transactions follow from how fast the storage of each database is. An empty list gives
        /// all the same.
        pub load_weights: Vec<f64> = Vec::new(),
            as list(within(0.01..=1000.0)),
            source "JetstressConfig.xml 2013, IopsBias 1 for each instance; its exact effect is unconfirmed.";
        /// Transactions per second to hold over all databases, instead of run.held_rate
        /// (--rate-transactions). "none" holds no rate of transactions.
        pub held_transactions_per_second: Option<f64> = None,
            as or_word("none", within(0.1..=1e8)),
            source "JetstressConfig.xml 2013, TransPerSec 0: no limit.";
        /// Pause of a session after each transaction, beside that of session_pause_factor; a longer
        /// one makes a thread ask for less. Without effect while a rate is held.
        pub session_pause: TimeSpan = TimeSpan(0),
            as within(TimeSpan(0)..=TimeSpan::seconds(60)), source "Project default.";
        /// Pause of a session after each transaction, as a multiple of the time that the
        /// transaction took, its commit included. At 1 a session is busy half of the time: two
        /// threads keep one request outstanding. At 0 sessions never rest. Without effect while a
        /// rate is held.
        pub session_pause_factor: f64 = 1.0,
            as within(0.0..=100.0),
            source "JetstressConfig.xml 2013, SluggishSessions 1: a pause factor in each thread. \
                That it multiplies the time of the operation is inferred: threads times 1 / (1 + \
                factor) are the reads outstanding in the published evaluations of the MSA 2040 \
                and 2050.";
        /// Copies of each database, that under test among them. For every further one each full log
        /// file is read once, in reads of 256 KiB: the log replication reads.
        pub copies_per_database: u32 = 1,
            as within(1..=16),
            source "JetstressConfig.xml 2013, DatabaseCopyCount; a plain test has 1. How often \
                and in what size Jetstress reads is unconfirmed.";
        /// Free space that must be there for growth, as percent of the data.
        pub growth_reserve_percent: f64 = 25.0,
            as within(0.0..=1000.0), source "JetstressConfig.xml 2013, DatabaseSpaceReserved.";
        /// Share of other programs in the bytes or the reads of a block device, in percent, from which a level
        /// that was missed there is in doubt; at 100 none is.
        pub other_io_percent: f64 = 20.0, as within(0.0..=100.0), source "Assumed.";
        /// The shares of the operations.
        pub mix: Mix = Mix::default();
        /// The shape of one mail item.
        pub item: Item = Item::default();
        /// Which items are read and changed more often than others.
        pub access: Access = Access::default();
    }
}

settings! {
    /// The shares of the operations. What insert, delete, replace and scan leave are reads.
    pub struct Mix {
        /// Operations that insert an item.
        pub insert_percent: f64 = 40.0,
            as within(0.0..=100.0), source "JetstressConfig.xml 2013, InsertOps.";
        /// Operations that find an item and delete it.
        pub delete_percent: f64 = 20.0,
            as within(0.0..=100.0), source "JetstressConfig.xml 2013, DeleteOps.";
        /// Operations that find an item and replace its columns.
        pub replace_percent: f64 = 5.0,
            as within(0.0..=100.0), source "JetstressConfig.xml 2013, ReplaceOps.";
        /// Operations that read a range of items in key order.
        pub scan_percent: f64 = 0.0,
            as within(0.0..=100.0), source "JetstressConfig.xml 2013, ScanPercentage.";
        /// Items that one scan reads.
        pub scan_items: u32 = 100,
            as within(1..=1_000_000), source "Project default.";
        /// Whether a scan reads the coming pages ahead.
        pub scan_read_ahead: bool = true,
            source "JetstressConfig.xml 2013, PrereadOnScan.";
        /// Whether the items that a transaction reads are fetched side by side when it begins. Without
        /// effect while a transaction has one operation.
        pub read_ahead: bool = false,
            source "JetstressConfig.xml 2013, PrereadOnRead; its exact effect is unconfirmed.";
        /// Operations in one transaction.
        pub operations_per_transaction: u32 = 1,
            as within(1..=10_000),
            source "JetstressConfig.xml 2013 has BatchRecords 1 and BatchUpdates 16, whose exact \
                meaning is not published; one keeps its ratio of database to log I/O.";
        /// Changing transactions whose commit does not wait for the log.
        pub lazy_commit_percent: f64 = 70.0,
            as within(0.0..=100.0), source "JetstressConfig.xml 2013, LazyCommits.";
        /// Longest time until a lazy commit is on stable storage.
        pub lazy_commit_window: TimeSpan = TimeSpan::millis(4),
            as within(TimeSpan::millis(1)..=TimeSpan::seconds(60)),
            source "Inferred from published ratios of database to log I/O and sizes of log writes: \
                docs/io-signature.md.";
    }
}

settings! {
    /// The shape of one mail item, and how much of it a read fetches.
    pub struct Item {
        /// Bytes in the short column, kept in the row itself.
        pub short_bytes: u32 = 200,
            as within(1..=1024), source "JetstressConfig.xml 2013, ShortPadLength.";
        /// Bytes in the long column.
        pub long_bytes: u32 = 2000,
            as within(1..=1 << 20), source "JetstressConfig.xml 2013, LongPadLength.";
        /// Whether items have a secondary index with keys in no order: to insert or to delete an item
        /// then reads and changes some page of the index as well.
        pub indexed: bool = false,
            source "Microsoft's description of the operations of Jetstress names a search by key and no \
                index. Without one the ratio of database to log I/O follows the thread table of \
                Jetstress 2010.";
        /// Whether a replace rewrites the long column as well as the short one.
        pub replace_long: bool = true,
            source "JetstressConfig.xml 2013, UpdateLV.";
        /// Whether a read fetches the long column.
        pub read_long: bool = false,
            source "JetstressConfig.xml 2013, RetrieveLVOnRead.";
        /// Whether a scan fetches the long column of its items.
        pub scan_long: bool = false,
            source "JetstressConfig.xml 2013, RetrieveLVOnScan.";
        /// Reads that find their item through the secondary index; the others use its key.
        pub read_by_index_percent: f64 = 0.0,
            as within(0.0..=100.0), source "A setting, for items with an index.";
        /// Share of the items' bytes that a compressing array can squeeze out. Each database has
        /// data of its own, so nothing deduplicates.
        pub compressible_percent: f64 = 0.0,
            as within(0.0..=100.0),
            source "A setting; at 0 compression cannot flatter the storage.";
        /// How full the building of a database leaves its pages.
        pub page_fill_percent: f64 = 90.0,
            as within(50.0..=100.0),
            source "A setting; an aged mail database has some room in its pages.";
    }
}

settings! {
    /// The hot set. With hot_data_percent at 100 every item is as likely as any other.
    pub struct Access {
        /// Share of the items that form the hot set; 100 means none is hotter.
        pub hot_data_percent: f64 = 100.0,
            as within(0.001..=100.0),
            source "Jetstress is uniform over the whole database. Real mail touches about 10 \
                percent of its data a day.";
        /// Share of the operations that fall into the hot set.
        pub hot_access_percent: f64 = 100.0,
            as within(0.0..=100.0),
            source "A setting, without effect while hot_data_percent is 100.";
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
    /// Their number stays, and with it the target rate: the whole load falls on less data.
    pub fn scale_to(&mut self, total: ByteSize) {
        let mailboxes = self.mailboxes().max(1);
        self.mailbox_size = ByteSize((total.bytes() / mailboxes).max(1));
    }
}

impl Mail {
    /// Sessions over all databases; `None` when their number is to be found.
    #[must_use]
    pub fn sessions(&self) -> Option<u32> {
        let of_each = self.threads_per_database;
        let of_each = of_each.map(|sessions| sessions.saturating_mul(self.databases));
        of_each.or(self.threads)
    }
}

impl Mix {
    /// What is odd about the shares, as a sentence; `None` when nothing is.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (self.delete_percent > self.insert_percent).then(|| {
            format!(
                "The mix deletes more than it inserts ({} % and {} % of the operations): the data become \
                 less while it runs, and may run out.",
                self.delete_percent, self.insert_percent
            )
        })
    }

    /// The share that insert, delete, replace and scan leave for single reads.
    #[must_use]
    pub fn read_percent(&self) -> f64 {
        100.0 - self.insert_percent - self.delete_percent - self.replace_percent - self.scan_percent
    }
}

impl Access {
    /// Whether every item is as likely as any other.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.hot_data_percent >= 100.0
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
