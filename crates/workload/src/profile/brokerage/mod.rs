//! `[brokerage]`: a brokerage house on a database: how large it is, what its users do, the market
//! they trade on, and the server that does the work.

mod database;
mod levels;
mod load;

pub use database::{Database, Server};
pub use levels::{Limits, OPERATION_LIMITS};
pub use load::{Market, Mix, Orders};

use super::quantity::{ByteSize, TimeSpan};
use super::setting::{OrWord, Setting, SettingVisitor, Within};

/// The brokerage load.
#[derive(Clone, Debug, PartialEq)]
pub struct Brokerage {
    /// Sessions, each running one transaction after the other.
    pub users: u32,
    /// Time of a user between two transactions, on average.
    pub think_time: TimeSpan,
    /// Data before the run; decides the customers unless they are given.
    pub data_size: ByteSize,
    /// Customers of the house; `None` takes as many as make `data_size`.
    pub customers: Option<u32>,
    /// Trading days whose trades the database holds before the run.
    pub trade_days: u32,
    /// Files that the database is spread over.
    pub data_files: u32,
    /// Free space set aside for growth, as percent of the data.
    pub growth_reserve_percent: f64,
    /// What the users do.
    pub mix: Mix,
    /// What their orders are like.
    pub orders: Orders,
    /// The exchange that answers them.
    pub market: Market,
    /// The database.
    pub database: Database,
    /// The machine that it runs on.
    pub server: Server,
    /// Limits of response times, mix and rollbacks.
    pub limits: Limits,
}

impl Default for Brokerage {
    fn default() -> Self {
        Self {
            users: 30,
            think_time: TimeSpan::millis(30),
            data_size: ByteSize(3_500_000_000_000),
            customers: None,
            trade_days: 300,
            data_files: 6,
            growth_reserve_percent: 3.0,
            mix: Mix::default(),
            orders: Orders::default(),
            market: Market::default(),
            database: Database::default(),
            server: Server::default(),
            limits: Limits::default(),
        }
    }
}

pub(super) const STUDY: &str = "The published evaluation of the MSA 2042 (2016).";
pub(super) const DESCRIBED: &str = "Open implementations of the workload agree on it.";

impl Brokerage {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "brokerage",
            "How large the brokerage house is, and how many users work at once.",
        );
        v.setting(Setting {
            key: "users",
            value: &mut Within(&mut self.users, 1..=65_536),
            meaning: "Sessions of the house's users, each running one transaction after the other \
                      (--threads).",
            source: STUDY,
        });
        v.setting(Setting {
            key: "think_time",
            value: &mut Within(&mut self.think_time, TimeSpan(0)..=TimeSpan::seconds(600)),
            meaning: "Average time of a user between two transactions, exponentially spread.",
            source: "Inferred from the MSA 2042 study: what 30 users leave besides their I/O. The \
                     workload itself has none.",
        });
        v.setting(Setting {
            key: "data_size",
            value: &mut Within(
                &mut self.data_size,
                ByteSize::mib(16)..=ByteSize::gib(16_384),
            ),
            meaning: "Tables and indexes before the run (--target-size). It decides the number of \
                      customers unless that is given.",
            source: STUDY,
        });
        v.setting(Setting {
            key: "customers",
            value: &mut OrWord {
                word: "auto",
                value: &mut self.customers,
                range: 1_000..=2_000_000,
            },
            meaning: "Customers of the house, in whole thousands. \"auto\" takes as many as make \
                      data_size, or some more with fewer days of trading where that comes nearer. \
                      All tables that grow with the house follow from them.",
            source: "Ours.",
        });
        v.setting(Setting {
            key: "trade_days",
            value: &mut Within(&mut self.trade_days, 1..=3_000),
            meaning: "Trading days of eight hours whose trades the database holds before the run; \
                      the most of them where data_size decides.",
            source: DESCRIBED,
        });
        v.setting(Setting {
            key: "data_files",
            value: &mut Within(&mut self.data_files, 1..=64),
            meaning: "Files that the database is spread over in turn, on a modelled array each on a \
                      volume of its own.",
            source: STUDY,
        });
        v.setting(Setting {
            key: "growth_reserve_percent",
            value: &mut Within(&mut self.growth_reserve_percent, 0.1..=1000.0),
            meaning: "Free space that must be there for growth, as percent of the data.",
            source: "Assumed; a day of the study's load adds far less.",
        });
        self.mix.visit(v);
        self.orders.visit(v);
        self.market.visit(v);
        self.database.visit(v);
        self.server.visit(v);
        self.limits.visit(v);
    }
}
