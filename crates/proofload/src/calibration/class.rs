//! The class of disk that a calibration begins with, as far as tests have to do with it.

use array::description::Description;
use array::disk::DiskDescription;
use calibrate::CalibrationError;
use calibrate::parameters::{self, Writes};
use execution::Error;

use super::{disk_of, refusal, sources_of};

/// A class of disk.
#[derive(Debug)]
pub(super) struct Class {
    /// Its name, or the path of its file.
    pub(super) name: String,
    /// The disk of the class, before anything is fitted.
    pub(super) disk: DiskDescription,
    /// What probes can use of it, bytes.
    pub(super) capacity_bytes: u64,
}

impl Class {
    /// Reads a class.
    ///
    /// # Errors
    /// There is none of this name, or it describes no disk that can be built.
    pub(super) fn new(name: &str) -> Result<Self, Error> {
        let sources = sources_of(name)?;
        let (_, disk) = disk_of(&sources)?;
        let capacity_bytes = Description::load(&sources)?.one_disk_bytes();
        Ok(Self {
            name: name.to_owned(),
            disk,
            capacity_bytes: capacity_bytes
                .ok_or_else(|| refusal(CalibrationError::NoParameters))?,
        })
    }

    /// Refuses a class that has nothing to be fitted, before anything is measured.
    pub(super) fn check_parameters(&self, with_writes: bool) -> Result<(), Error> {
        let writes = match with_writes {
            true => Writes::Random,
            false => Writes::None,
        };
        let found = parameters::of_disk(&self.name, &self.disk, writes);
        match found.is_empty() {
            true => Err(refusal(CalibrationError::NoParameters)),
            false => Ok(()),
        }
    }
}
