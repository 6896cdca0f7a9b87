//! The options of `witness` and `audit`, and those by which a run names its witness.

use std::path::{Path, PathBuf};

use clap::Args;
use proofload::storage_run::witness_refusal;
use proofload::{Error, WitnessOptions};
use witness::Secret;

/// By what a run names its witness.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Witness")]
pub struct WitnessArgs {
    /// Report what is acknowledged as durable to 'proofload witness' at this address, so that 'proofload
    /// audit' finds out after a power cut what was lost.
    #[arg(long, value_name = "HOST:PORT", requires = "secret_file")]
    pub witness: Option<String>,
    /// File with the secret shared with the witness.
    #[arg(long, value_name = "FILE", requires = "witness")]
    pub secret_file: Option<PathBuf>,
}

impl WitnessArgs {
    /// The witness, if one was named.
    ///
    /// # Errors
    /// The file of the secret cannot be read, or the secret is too short.
    pub fn read(&self) -> Result<Option<WitnessOptions>, Error> {
        read(self.witness.as_deref(), self.secret_file.as_deref())
    }
}

impl AuditOptions {
    /// The witness, if one was named.
    ///
    /// # Errors
    /// As those of [`WitnessArgs::read`].
    pub fn witness(&self) -> Result<Option<WitnessOptions>, Error> {
        read(self.witness.as_deref(), self.secret_file.as_deref())
    }
}

fn read(address: Option<&str>, secret: Option<&Path>) -> Result<Option<WitnessOptions>, Error> {
    let (Some(address), Some(file)) = (address, secret) else {
        return Ok(None);
    };
    let secret = Secret::read(file).map_err(|error| witness_refusal(&error))?;
    Ok(Some(WitnessOptions {
        address: address.to_owned(),
        secret,
    }))
}

/// Options of `witness`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  head -c 32 /dev/urandom | base64 > secret
  proofload witness --listen 0.0.0.0:7411 --secret-file secret \\
    --directory /var/lib/proofload-witness

Exit status:
    2  usage: the secret cannot be read or is too short
    3  environment: the address cannot be listened at, or the directory cannot be written
  130  interrupted, as it is meant to end")]
pub struct WitnessServerOptions {
    /// Address and port to listen at.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: String,
    /// File with the secret shared with runs and audits: 16 bytes or more.
    #[arg(long, value_name = "FILE")]
    pub secret_file: PathBuf,
    /// Where the records are kept, a file for each run.
    #[arg(long, value_name = "DIR", default_value = "proofload-witness")]
    pub directory: PathBuf,
}

/// Options of `audit`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  proofload audit proofload-runs/exchange-2013-20260801T120000Z --witness other:7411 \\
    --secret-file secret
  proofload audit proofload-runs/brokerage-20260801T120000Z

Exit status:
    0  no acknowledged transaction is lost
    2  usage: not the directory of such a run, a secret that cannot be read, or a witness without its records
    3  environment: the witness cannot be reached or has another secret, or the databases are in use
    4  acknowledged transactions are lost, or the databases are damaged
    5  inconclusive: of some transactions it cannot be said")]
pub struct AuditOptions {
    /// The run directory of the run that was interrupted.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// The witness that the run had. Without one, a brokerage's database is compared with the ledger in
    /// DIR, on this machine, as far as the run has written it.
    #[arg(long, value_name = "HOST:PORT", requires = "secret_file")]
    pub witness: Option<String>,
    /// File with the secret shared with the witness.
    #[arg(long, value_name = "FILE", requires = "witness")]
    pub secret_file: Option<PathBuf>,
    /// The database of a brokerage on an existing server, as 'run' had it.
    #[arg(long, value_name = "DATABASE")]
    pub database: Option<String>,
    /// Print the answer as a JSON object.
    #[arg(long)]
    pub json: bool,
}
