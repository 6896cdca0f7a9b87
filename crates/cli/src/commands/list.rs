//! `proofload list`: what is built in.

use proofload::documents::DocumentKind;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::{ListOptions, Listed};
use crate::print::print;

/// Prints the names with their descriptions.
pub fn list(options: &ListOptions) -> Result<ExitStatus, CommandError> {
    let kind = match options.what {
        Listed::Workloads => DocumentKind::Profile,
        Listed::Arrays => DocumentKind::Array,
        Listed::Disks => DocumentKind::Disk,
        Listed::Studies => DocumentKind::Study,
        Listed::Scripts => DocumentKind::Script,
    };
    let titles = kind.titles()?;
    let width = titles.iter().map(|(name, _)| name.len() + 2).max();
    let width = width.unwrap_or(0);
    let lines = titles.iter();
    let text: String = lines
        .map(|(name, title)| format!("{name:<width$}{title}\n"))
        .collect();
    print(&text)
}
