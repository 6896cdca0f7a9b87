//! The options of the load, which `run` and `predict` share, and how they become a scenario.

use clap::Args;
use proofload::{Error, Key, Scenario, Setting, Value};

use super::output::OutputOptions;

/// How much load, on how much data.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Load")]
pub struct LoadOptions {
    /// Length of the measured phase, such as 10m or 2h; of a prediction in simulated time.
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Sessions over all databases, or "auto" to find the number that reaches the rate. Where a rate is held,
    /// "auto" looks for nothing and takes up to 64 for each database.
    #[arg(long, value_name = "N|auto")]
    pub threads: Option<String>,
    /// Users of a brokerage.
    #[arg(long, value_name = "N", conflicts_with = "threads")]
    pub users: Option<String>,
    /// Hold this rate of database reads and writes per second (of a brokerage: of transactions that
    /// its users begin).
    #[arg(long, value_name = "IOPS")]
    pub rate: Option<String>,
    /// Hold this rate of transactions per second of a mail server instead of a rate of I/O.
    #[arg(long, value_name = "N", conflicts_with = "rate")]
    pub rate_transactions: Option<String>,
    /// Number of databases over which the load is spread.
    #[arg(long, value_name = "N")]
    pub databases: Option<String>,
    /// Number of mailboxes over all databases, rounded up so that databases are alike.
    #[arg(long, value_name = "N")]
    pub mailboxes: Option<String>,
    /// Data over all databases, such as 20GB: the same mailboxes and the same load, with less mail
    /// in each. Room to grow and the logs come on top.
    #[arg(long, value_name = "SIZE")]
    pub target_size: Option<String>,
    /// Seed of the random number generator, 0 to 2^63 - 1; the same seed makes the same choices.
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Change any setting of the profile or, prefixed with 'array.', of the array (predictions); may be given several times.
    #[arg(long, value_name = "PATH.TO.KEY=VALUE")]
    pub set: Vec<String>,
}

impl LoadOptions {
    /// A scenario with every `--set` first, so that an option with a name of its own wins.
    ///
    /// # Errors
    /// A `--set` without a value.
    pub fn scenario(&self, workload: &str, output: &OutputOptions) -> Result<Scenario, Error> {
        let named = [
            (Key::Duration, &self.duration),
            (Key::Threads, &self.threads),
            (Key::Users, &self.users),
            (Key::Rate, &self.rate),
            (Key::RateOfTransactions, &self.rate_transactions),
            (Key::Databases, &self.databases),
            (Key::Mailboxes, &self.mailboxes),
            (Key::TargetSize, &self.target_size),
            (Key::Seed, &self.seed),
        ];
        let mut scenario = Scenario::new(workload);
        scenario.settings = settings(&self.set)?;
        for (key, text) in named {
            if let Some(text) = text {
                scenario.set(&key, &Value::from(text.as_str()));
            }
        }
        scenario.output = output.place();
        Ok(scenario)
    }
}

/// The settings after `--set`.
///
/// # Errors
/// One without a value.
pub fn settings(assignments: &[String]) -> Result<Vec<Setting>, Error> {
    assignments
        .iter()
        .map(|text| Setting::parse(text))
        .collect()
}
