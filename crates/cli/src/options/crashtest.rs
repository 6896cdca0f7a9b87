//! The options of `crashtest`.

use clap::{Args, value_parser};

/// Options of `crashtest`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  proofload crashtest
  proofload crashtest --seeds 1000000 --from 20000
  proofload crashtest --seed 1294 --trace

Exit status:
    0  no seed failed
    2  usage: nothing was simulated
    4  a seed failed: it is explained, and the command that repeats it is printed
  130  interrupted")]
pub struct CrashtestOptions {
    /// How many seeds to simulate, up to the first that fails.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    pub seeds: u64,
    /// The first of them.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub from: u64,
    /// Simulate this seed alone.
    #[arg(long, value_name = "S", conflicts_with_all = ["seeds", "from", "jobs"])]
    pub seed: Option<u64>,
    /// Print everything that happens: requests, commits, faults, recovery.
    #[arg(long, requires = "seed")]
    pub trace: bool,
    /// Seeds simulated at once [default: one for each CPU].
    #[arg(long, value_name = "N")]
    #[arg(value_parser = value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Show no progress, and print only what failed.
    #[arg(long)]
    pub quiet: bool,
}
