//! What nobody but its owner knows of the storage.

use config::{ConfigError, Document, Format, Source, settings};

settings! {
    /// Details of the storage for a certificate. What is empty is a line to be filled in by hand.
    pub struct Details {
        /// For whom the storage was tested.
        pub customer: String = String::new();
        /// Who tested it.
        pub tester: String = String::new();
        /// Manufacturer and model of the array.
        pub array: String = String::new();
        /// Serial numbers of the array.
        pub serial: String = String::new();
        /// Firmware of the array.
        pub firmware: String = String::new();
        /// Disks and their RAID level.
        pub disks: String = String::new();
        /// Controllers and their caches.
        pub controllers: String = String::new();
        /// How the host is connected: adapters, switches, multipathing.
        pub connection: String = String::new();
        /// A remark.
        pub note: String = String::new();
    }
}

static DETAILS: Format = Format::plain("details of a certificate");

impl Details {
    /// The details in a text of TOML; `name` is that of its file.
    ///
    /// # Errors
    /// When it holds something else.
    pub fn of_toml(name: &str, text: &str) -> Result<Self, ConfigError> {
        let document = Document::<Self>::load(&DETAILS, &[Source::file(name, text)])?;
        Ok(document.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_in_the_documents_names_every_detail() {
        let guide = include_str!("../../../../docs/how-to/sign-off-an-array.md");
        let (_, rest) = guide.split_once("```toml\n").expect("an example");
        let (example, _) = rest.split_once("```").expect("its end");
        let details: Details = config::from_toml(example).expect("valid settings");
        let settings = config::settings_by_path(&details);
        assert_eq!(settings.len(), 9);
        let unset: Vec<&String> = settings
            .iter()
            .filter(|(_, value)| value.as_str() == Some(""))
            .map(|(name, _)| name)
            .collect();
        assert!(unset.is_empty(), "{unset:?}");
    }
}
