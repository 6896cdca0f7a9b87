//! `[brokerage]`: how large the data set is and how many users work at once.

use super::database::{Database, Server};
use super::limits::Limits;
use super::load::{Market, Mix, Orders};
use super::measured_io::MeasuredIo;
use super::{DESCRIBED, STUDY};
use config::{ByteSize, TimeSpan, choice, or_word, settings, within};

choice! {
    /// Rows that the consistency checks examine.
    pub enum CheckedRows default All {
        /// All rows of the database.
        All = "all",
        /// Those that belong to trades of the run, and changes of counters and balances.
        OfTheRun = "of-the-run",
    }
}

settings! {
    /// How large the brokerage is, and how many users work at once.
    pub struct Brokerage {
        /// Sessions of the users, each running one transaction after the other (--threads).
        pub users: u32 = 30,
            as within(1..=65_536), source STUDY;
        /// Average time of a user between two transactions, exponentially spread.
        pub think_time: TimeSpan = TimeSpan::millis(30),
            as within(TimeSpan(0)..=TimeSpan::seconds(600)),
            source "Inferred from the MSA 2042 study: what 30 users leave besides their I/O. The \
                workload itself has none.";
        /// Tables and indexes before the run (--target-size). It decides the number of customers
        /// unless that is given.
        pub data_size: ByteSize = ByteSize(3_500_000_000_000),
            as within(ByteSize::mib(16)..=ByteSize::gib(16_384)), source STUDY;
        /// Customers of the brokerage, in whole thousands. "auto" takes as many as make data_size, or
        /// some more with fewer days of trading where that comes nearer. All tables that grow with
        /// the brokerage follow from them.
        pub customers: Option<u32> = None,
            as or_word("auto", within(1_000..=2_000_000)), source "Project default.";
        /// Trading days of eight hours whose trades the database holds before the run; the most of
        /// them where data_size decides.
        pub trade_days: u32 = 300,
            as within(1..=3_000), source DESCRIBED;
        /// Files that the database is spread over in turn, on a modelled array each on a volume of
        /// its own.
        pub data_files: u32 = 6,
            as within(1..=64), source STUDY;
        /// Free space that must be there for growth, as percent of the data.
        pub growth_reserve_percent: f64 = 3.0,
            as within(0.1..=1000.0), source "Assumed; a day of the study's load adds far less.";
        /// Rows that the consistency checks after a run examine: "all" of the database, whoever wrote
        /// them, or those "of-the-run", which is less work where the database is large; the report
        /// then says so.
        pub checked_rows: CheckedRows = CheckedRows::All, source "Ours.";
        /// The transactions that users begin.
        pub mix: Mix = Mix::default();
        /// What the orders of customers are like.
        pub orders: Orders = Orders::default();
        /// The exchange and what happens by the clock: answers, prices, data maintenance.
        pub market: Market = Market::default();
        /// How the database keeps its pages.
        pub database: Database = Database::default();
        /// I/O per transaction that a run has measured (--like).
        pub measured_io: MeasuredIo = MeasuredIo::default();
        /// The machine of a modelled database: CPUs, and what else was seen of it.
        pub server: Server = Server::default();
        /// Limits of single transactions.
        pub limits: Limits = Limits::default(), key "service_levels";
    }
}
