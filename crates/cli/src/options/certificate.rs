//! Options of `certificate` and `verify`.

use std::path::PathBuf;

/// Options of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload verify proofload-runs/exchange-2013-20260801T120000Z
  proofload verify runs/* --json

Exit status:
    0  everything was recomputed and agrees
    2  not the directory of a run
    4  something was changed: a file, a figure or the verdict
    5  nothing was found changed, but not everything could be compared")]
pub struct VerifyOptions {
    /// Run directories.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// Print one JSON object for each run, on a line of its own.
    #[arg(long)]
    pub json: bool,
}

/// Options of `certificate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload certificate runs/2h --customer 'Example Ltd' --array 'HPE MSA 2050' --serial 2S6123
  proofload certificate runs/2h runs/24h runs/path-failed --details array.toml --out sign-off")]
pub struct CertificateOptions {
    /// Run directories, such as those of 2 hours and of 24 hours; they become one certificate.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// For whom the storage was tested.
    #[arg(long, value_name = "NAME")]
    pub customer: Option<String>,
    /// Who tested it.
    #[arg(long, value_name = "NAME")]
    pub tester: Option<String>,
    /// Manufacturer and model of the array.
    #[arg(long, value_name = "TEXT")]
    pub array: Option<String>,
    /// Serial numbers of the array.
    #[arg(long, value_name = "TEXT")]
    pub serial: Option<String>,
    /// Firmware of the array.
    #[arg(long, value_name = "TEXT")]
    pub firmware: Option<String>,
    /// A remark.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// A TOML file with these and with disks, controllers, connection; options take precedence. What
    /// neither of them has is a line to be filled in by hand.
    #[arg(long, value_name = "FILE")]
    pub details: Option<PathBuf>,
    /// Directory for certificate.html and certificate.pdf [default: the first run directory]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a certificate that is there already.
    #[arg(long)]
    pub overwrite: bool,
    /// Also take runs that 'verify' finds changed; the document then says so.
    #[arg(long)]
    pub unverified: bool,
}
