//! The command that runs an imported profile.

/// Letters that a shell leaves alone.
const PLAIN: &str = "/.-_:=+@%";

/// The options of `proofload run` that a configuration asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    /// Directories of the databases.
    pub on: Vec<String>,
    /// Directories of the logs.
    pub log_on: Vec<String>,
    /// The test, unless it is the one that a run makes by itself.
    pub test: Option<&'static str>,
    /// Further options, each with its value.
    pub options: Vec<String>,
}

impl Command {
    /// The command on one line, for the profile in this file.
    pub(super) fn line(&self, profile: &str) -> String {
        let mut words = vec![format!("proofload run {}", quoted(profile))];
        let on = if self.on.is_empty() {
            "DIR".to_owned()
        } else {
            joined(&self.on)
        };
        words.push(format!("--on {on}"));
        if !self.log_on.is_empty() && self.log_on != self.on {
            words.push(format!("--log-on {}", joined(&self.log_on)));
        }
        words.extend(self.test.map(|test| format!("--test {test}")));
        words.extend(self.options.iter().cloned());
        words.join(" ")
    }
}

/// Paths as the value of an option that takes several.
fn joined(paths: &[String]) -> String {
    quoted(&paths.join(","))
}

/// A word as a shell reads it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || PLAIN.contains(letter) || letter == ',';
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Where the volume of a path of Windows would be mounted: `E:\db1` becomes `/mnt/e/db1`. `None` for what is
/// no path of a drive.
pub(super) fn mounted(path: &str) -> Option<String> {
    let mut letters = path.chars();
    let drive = letters.next().filter(char::is_ascii_alphabetic)?;
    let rest = letters.as_str().strip_prefix(':')?;
    let parts = rest.split(['\\', '/']).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.collect();
    let drive = drive.to_ascii_lowercase();
    if parts.is_empty() {
        return Some(format!("/mnt/{drive}"));
    }
    Some(format!("/mnt/{drive}/{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_become_those_of_mounted_volumes() {
        assert_eq!(mounted(r"E:\db1\db").as_deref(), Some("/mnt/e/db1/db"));
        assert_eq!(
            mounted(r"C:\Exchange Volumes\V1\").as_deref(),
            Some("/mnt/c/Exchange Volumes/V1")
        );
        assert_eq!(mounted("F:").as_deref(), Some("/mnt/f"));
        assert_eq!(mounted(r"\\server\share"), None);
        assert_eq!(mounted("relative"), None);
    }

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let command = Command {
            on: vec![
                "/mnt/c/Exchange Volumes/V1".to_owned(),
                "/mnt/it's".to_owned(),
            ],
            ..Command::default()
        };
        assert_eq!(
            command.line("my profile"),
            r"proofload run 'my profile' --on '/mnt/c/Exchange Volumes/V1,/mnt/it'\''s'"
        );
        assert_eq!(quoted(""), "''");
    }
}
