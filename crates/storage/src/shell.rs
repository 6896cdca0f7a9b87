//! Paths in commands that a message offers to be typed.

use std::path::Path;

/// A path as one word of a shell command. Without quotes a name with a blank or a line break would be
/// several words, and `rm -r` would remove what these name.
#[must_use]
pub fn word(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A text as one word.
pub fn quoted(text: &str) -> String {
    // Only a text with a NUL cannot be quoted, which is no path.
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(word(Path::new("/mnt/db1")), "/mnt/db1");
        assert_eq!(word(Path::new("my data/x")), "'my data/x'");
        assert_eq!(word(Path::new("a\nb")), "'a\nb'");
        assert_eq!(word(Path::new("$(reboot)")), "'$(reboot)'");
        let words = shlex::split(&word(Path::new("it's \"mine\"; rm *")));
        assert_eq!(words.unwrap_or_default(), ["it's \"mine\"; rm *"]);
    }
}
