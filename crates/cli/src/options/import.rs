//! The options of `import`.

use std::path::PathBuf;

use clap::Args;

/// Options of `import`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  proofload import JetstressConfig.xml --out profile.toml
  proofload import JetstressConfig.xml | less

Exit status:
    0  the profile was written
    2  usage: no configuration of Jetstress, a value that no profile may have, or --out is there
    3  environment: a file cannot be read or written")]
pub struct ImportOptions {
    /// The configuration, such as JetstressConfig.xml.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the profile to this file, which must be new [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
