//! `proofload show`: a document as it is written, all its settings in force, or the JSON Schema of
//! its kind.

use std::path::Path;

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
    let Some(kind) = kind(options) else {
        return Err(DocumentKind::unknown(name).into());
    };
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
/// profiles. `None`: there is neither.
fn kind(options: &ShowOptions) -> Option<DocumentKind> {
    match (options.array, options.disk, options.study) {
        (true, _, _) => Some(DocumentKind::Array),
        (_, true, _) => Some(DocumentKind::Disk),
        (_, _, true) => Some(DocumentKind::Study),
        _ => {
            let is_file = || {
                Path::new(&options.name)
                    .exists()
                    .then_some(DocumentKind::Profile)
            };
            DocumentKind::of_bundled(&options.name).or_else(is_file)
        }
    }
}
