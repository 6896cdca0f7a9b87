//! From a `JetstressConfig.xml` to a profile.

use config::ConfigError;
use execution::Error;

use super::command::Command;
use super::document;
use super::notes::Notes;
use super::scalar::shown;
use super::translate::{Translation, translate};

/// What came of a configuration of Jetstress.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The profile, as commented TOML.
    pub profile: String,
    /// Which Jetstress the file is of.
    pub version: String,
    /// What became of each element.
    pub notes: Notes,
    command: Command,
}

impl Imported {
    /// The command that runs the profile in the file `path`.
    #[must_use]
    pub fn command(&self, path: &str) -> String {
        self.command.line(path)
    }
}

/// Makes a profile of the `JetstressConfig.xml` in `bytes`; `name` is what messages call it.
///
/// # Errors
/// The file is none, or a value in it is none that Jetstress or a profile may have.
pub fn import(name: &str, bytes: &[u8]) -> Result<Imported, Error> {
    let mut translation = translate(document::read(name, bytes)?)?;
    translation.draft.head = head(&translation);
    translation
        .draft
        .read()
        .map_err(|error| refused(&translation, &error))?;
    Ok(Imported {
        profile: translation.draft.to_toml(),
        version: translation.version_found,
        command: translation.command,
        notes: translation.notes,
    })
}

fn head(translation: &Translation) -> Vec<String> {
    let base = translation.draft.base();
    let mut lines = vec![
        format!(
            "Imported from {}: {}.",
            shown(&translation.elements.file),
            translation.version_found
        ),
        format!(
            "Above each setting stands the element that it comes from. What is not named is as in {base}."
        ),
    ];
    if !translation.notes.unusable.is_empty() {
        lines.push("Without an effect here:".to_owned());
    }
    let unusable = translation.notes.unusable.iter();
    lines.extend(unusable.map(|note| format!("  {}: {}", note.element, note.outcome)));
    lines
}

/// A profile that breaks a rule, in words of the configuration: the first thing that is wrong.
fn refused(translation: &Translation, error: &ConfigError) -> Error {
    let file = &translation.elements.file;
    let Some(diagnostic) = error.diagnostics.first() else {
        return Error::usage(format!("{file} gives no profile."), "");
    };
    let setting = translation.draft.setting_of(error, diagnostic);
    let about = setting.map_or(String::new(), |one| format!("{}: ", one.why));
    let help = diagnostic.help.as_deref().unwrap_or("correct the file");
    Error::usage(
        format!("{file}: {about}{}.", diagnostic.message),
        measure::units::sentence(&format!("{help}.")),
    )
}
