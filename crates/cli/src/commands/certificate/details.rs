//! What only its owner knows of the storage: a file of settings, and options over it.

use std::fs;

use config::{Document, Format, Source, settings};
use report::Details;

use crate::error::CommandError;
use crate::options::CertificateOptions;

settings! {
    /// Details of the storage for a certificate. What is empty is a line to be filled in by hand.
    pub struct DetailsFile {
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

/// The details in the file that the options name, and in the options themselves.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub fn read(options: &CertificateOptions) -> Result<Details, CommandError> {
    let file = match &options.details {
        None => DetailsFile::default(),
        Some(path) => {
            let name = path.display().to_string();
            let text = fs::read_to_string(path).map_err(|error| {
                CommandError::usage(
                    format!("{name} cannot be read: {error}."),
                    "Give the path of a TOML file with --details.",
                )
            })?;
            Document::<DetailsFile>::load(&DETAILS, &[Source::file(&name, &text)])?.settings
        }
    };
    let or = |option: &Option<String>, of_file: String| option.clone().unwrap_or(of_file);
    Ok(Details {
        customer: or(&options.customer, file.customer),
        tester: or(&options.tester, file.tester),
        array: or(&options.array, file.array),
        serial: or(&options.serial, file.serial),
        firmware: or(&options.firmware, file.firmware),
        disks: file.disks,
        controllers: file.controllers,
        connection: file.connection,
        note: or(&options.note, file.note),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_in_the_documents_names_every_detail() {
        let guide = include_str!("../../../../../docs/how-to/sign-off-an-array.md");
        let (_, rest) = guide.split_once("```toml\n").expect("an example");
        let (example, _) = rest.split_once("```").expect("its end");
        let details: DetailsFile = config::from_toml(example).expect("valid settings");
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
