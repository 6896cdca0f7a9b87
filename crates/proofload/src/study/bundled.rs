//! The studies that are built in.

/// A study that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct BundledStudy {
    /// The name it goes by.
    pub name: &'static str,
    /// The study as TOML, with the source of each figure.
    pub toml: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(BundledStudy {
            name: $name,
            toml: include_str!(concat!("../../../../studies/", $name, ".toml")),
        }),*]
    };
}

/// Every built-in study, in the order in which they are repeated.
pub const BUNDLED_STUDIES: &[BundledStudy] =
    bundled!["msa2050", "msa2042", "s3500", "msa2040", "eva5000"];

/// The text that says what each product family assumes, and what others would.
pub const FAMILIES: &str = include_str!("../../../../studies/families.toml");

/// The built-in study of that name.
pub fn bundled_study(name: &str) -> Option<BundledStudy> {
    BUNDLED_STUDIES
        .iter()
        .copied()
        .find(|study| study.name == name)
}
