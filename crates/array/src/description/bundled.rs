//! Descriptions of arrays that are built in.

/// A description that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledArray {
    /// The name it goes by.
    pub name: &'static str,
    /// Its TOML, with the source of each number.
    pub toml: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(BundledArray {
            name: $name,
            toml: include_str!(concat!("../../../../profiles/arrays/", $name, ".toml")),
        }),*]
    };
}

/// Every built-in array, by family; those without SSDs first.
pub const BUNDLED_ARRAYS: &[BundledArray] = bundled![
    "msa2040",
    "msa2040-cache",
    "msa2040-tier",
    "msa2042",
    "msa2042-cache",
    "msa2042-tier",
    "msa2050",
    "msa2050-cache",
    "msa2050-tier",
    "eva5000-isolated-vraid1",
    "eva5000-isolated-vraid5",
    "eva5000-single-vraid1",
    "eva5000-single-vraid5",
    "eva5000-crossover-vraid1",
    "eva5000-crossover-vraid5",
    "lsi-s3500-raid0",
    "lsi-s3500-raid5",
    "nvme-raid10",
    "cloud-burst",
];

/// The built-in array of that name.
pub fn bundled_array(name: &str) -> Option<BundledArray> {
    BUNDLED_ARRAYS
        .iter()
        .copied()
        .find(|array| array.name == name)
}
