//! What the terminal can show.

/// Whether the terminal understands more than ASCII, by the locale of the environment.
#[must_use]
pub fn is_unicode_locale() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut values = names.iter().filter_map(std::env::var_os);
    let locale = values.find(|value| !value.is_empty()).unwrap_or_default();
    let locale = locale.to_string_lossy().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
