//! The options of `page`.

use std::path::PathBuf;

use clap::Args;

/// Options of `page`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  proofload page
  proofload page --out /srv/www/proofload.html --overwrite

Exit status:
    0  the page was written
    2  usage: the file is there already
    3  environment: the file cannot be written, or this program was built without the page")]
pub struct PageOptions {
    /// The HTML file to write.
    #[arg(long, value_name = "FILE", default_value = "proofload.html")]
    pub out: PathBuf,
    /// Write over a file that is there already.
    #[arg(long)]
    pub overwrite: bool,
}
