//! The secret that the run, the witness and the audit share.

use crate::error::WitnessError;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The shortest secret: one that can be guessed authenticates nobody.
pub const LEAST_SECRET_BYTES: usize = 16;

/// The longest file that is read for a secret.
const MOST_FILE_BYTES: u64 = 4_096;

/// A secret that cannot be printed by mistake: `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A secret of these bytes.
    ///
    /// # Errors
    /// If they are fewer than [`LEAST_SECRET_BYTES`].
    pub fn new(bytes: &[u8]) -> Result<Self, WitnessError> {
        if bytes.len() < LEAST_SECRET_BYTES {
            return Err(WitnessError::ShortSecret {
                bytes: bytes.len(),
                least: LEAST_SECRET_BYTES,
            });
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The secret in a file, without white space around it.
    ///
    /// # Errors
    /// If the file cannot be read, is longer than 4 KiB, or holds too short a secret.
    pub fn read(path: &Path) -> Result<Self, WitnessError> {
        let unreadable = |problem: String| WitnessError::SecretFile {
            path: path.to_owned(),
            problem,
        };
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        let mut bytes = Vec::new();
        let read = file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() as u64 > MOST_FILE_BYTES {
            return Err(unreadable(format!(
                "it is longer than {MOST_FILE_BYTES} bytes"
            )));
        }
        Self::new(bytes.trim_ascii())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_without_the_end_of_its_line_and_not_shown() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        let secret = Secret::read(&path).unwrap();
        assert_eq!(secret, Secret::new(b"0123456789abcdef").unwrap());
        assert!(!format!("{secret:?}").contains("0123"));
        std::fs::write(&path, "short\n").unwrap();
        let error = Secret::read(&path).unwrap_err();
        assert!(matches!(error, WitnessError::ShortSecret { bytes: 5, .. }));
        std::fs::write(&path, [b'x'; 5_000]).unwrap();
        let error = Secret::read(&path).unwrap_err();
        assert!(error.to_string().contains("longer"), "{error}");
        let missing = Secret::read(&directory.path().join("none")).unwrap_err();
        assert!(matches!(missing, WitnessError::SecretFile { .. }));
    }
}
