//! `proofload show`: a document as it is written, all its settings in force, or the JSON Schema of
//! its kind.

use config::Source;
use proofload::Setting;
use proofload::documents::DocumentKind;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::ShowOptions;
use crate::print::print;

/// Prints the commented TOML of a bundled document, the settings that a document comes to, or the
/// schema of its kind.
pub fn show(options: &ShowOptions) -> Result<ExitStatus, CommandError> {
    let name = options.name.as_str();
    let kind = kind(options);
    let as_written = options.set.is_empty() && !options.resolved && !options.schema;
    if let Some(text) = kind.bundled(name).filter(|_| as_written) {
        return print(text);
    }
    let mut sources = vec![kind.find(name)?];
    if options.schema {
        return print(&format!("{:#}\n", kind.schema(&sources)?));
    }
    for text in &options.set {
        let Setting { key, value } = Setting::parse(text)?;
        sources.push(Source::value("--set", &key.to_string(), value.as_str()));
    }
    print(&kind.resolved_toml(&sources)?)
}

/// The kind that the options name, or that a bundled document of the name has; files are taken as
/// profiles.
fn kind(options: &ShowOptions) -> DocumentKind {
    match (options.array, options.disk, options.study) {
        (true, _, _) => DocumentKind::Array,
        (_, true, _) => DocumentKind::Disk,
        (_, _, true) => DocumentKind::Study,
        _ => DocumentKind::of_bundled(&options.name).unwrap_or(DocumentKind::Profile),
    }
}
