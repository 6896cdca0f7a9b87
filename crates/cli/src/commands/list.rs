//! `proofload list`: what is built in.

use proofload::documents::DocumentKind;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::{ListOptions, Listed};
use crate::print::print;

/// Prints the names with their descriptions.
pub fn list(options: &ListOptions) -> Result<ExitStatus, CommandError> {
    let (kind, width) = match options.what {
        Listed::Workloads => (DocumentKind::Profile, 16),
        Listed::Arrays => (DocumentKind::Array, 26),
        Listed::Disks => (DocumentKind::Disk, 20),
        Listed::Studies => (DocumentKind::Study, 16),
    };
    let mut text = String::new();
    for (name, title) in kind.titles()? {
        text.push_str(&format!("{name:<width$}{title}\n"));
    }
    print(&text)
}
