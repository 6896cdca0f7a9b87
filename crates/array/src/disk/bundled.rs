//! Descriptions of real disks that are built in.

use config::ConfigError;

use super::DiskDescription;

/// A description of a disk that is built into the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledDisk {
    /// The name by which an array's description asks for it.
    pub name: &'static str,
    /// The TOML of a [`DiskDescription`], with the source of each number.
    pub toml: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(BundledDisk {
            name: $name,
            toml: include_str!(concat!("../../../../profiles/disks/", $name, ".toml")),
        }),*]
    };
}

/// Every built-in disk, by kind and size.
pub const BUNDLED_DISKS: &[BundledDisk] = bundled![
    "sas-10k-600gb",
    "sas-10k-900gb",
    "sas-10k-1200gb",
    "sas-15k-600gb",
    "fc-15k-72gb",
    "nl-sas-7k2-1tb",
    "sata-7k2-3tb",
    "ssd-sas-400gb",
    "ssd-sas-800gb",
    "ssd-dc-s3500-800gb",
    "ssd-sata-mlc-256gb",
    "ssd-sata-tlc-1tb",
    "ssd-nvme-pcie3-256gb",
    "ssd-nvme-pcie3-1tb",
    "ssd-nvme-pcie3-dc-4tb",
    "ssd-nvme-pcie4-1tb",
    "ssd-nvme-3840gb",
    "cloud-3000iops-1tb",
    "cloud-burst-100gb",
];

/// The built-in disk of that name.
pub fn bundled_disk(name: &str) -> Option<BundledDisk> {
    BUNDLED_DISKS.iter().copied().find(|disk| disk.name == name)
}

impl BundledDisk {
    /// What its TOML says.
    ///
    /// # Errors
    /// Everything that is wrong with it, which tests keep empty.
    pub fn description(self) -> Result<DiskDescription, ConfigError> {
        config::from_toml(self.toml)
    }
}
