//! One volume as tasks see it.

use super::host::ArrayHost;
use super::model::VolumeModel;
use crate::payload::Payload;
use crate::{Array, FirstWrite, HostError, HostOperation, VolumeId};

/// A volume of an array. Clones share it.
pub struct ArrayVolume<P: Payload, M: VolumeModel<P> = Array<P>> {
    host: ArrayHost<P, M>,
    volume: VolumeId,
    capacity_sectors: u64,
}

impl<P: Payload, M: VolumeModel<P>> Clone for ArrayVolume<P, M> {
    fn clone(&self) -> Self {
        Self {
            host: self.host.clone(),
            volume: self.volume,
            capacity_sectors: self.capacity_sectors,
        }
    }
}

impl<P: Payload, M: VolumeModel<P>> ArrayVolume<P, M> {
    fn new(host: ArrayHost<P, M>, volume: VolumeId, capacity_sectors: u64) -> Self {
        Self {
            host,
            volume,
            capacity_sectors,
        }
    }

    /// Which volume it is.
    #[must_use]
    pub fn id(&self) -> VolumeId {
        self.volume
    }

    /// Its capacity in sectors.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    /// The host it belongs to.
    #[must_use]
    pub fn host(&self) -> &ArrayHost<P, M> {
        &self.host
    }

    /// Reads a stretch; gives what is stored there.
    ///
    /// # Errors
    /// As the array says.
    pub async fn read(&self, first_sector: u64, sectors: u32) -> Result<P, HostError> {
        let operation = HostOperation::Read;
        let payload = P::default();
        self.host
            .request(self.volume, operation, first_sector, sectors, payload)
            .await
    }

    /// Writes a stretch; returns when the array has acknowledged it.
    ///
    /// # Errors
    /// As the array says; what the sectors hold is then not known.
    pub async fn write(
        &self,
        first_sector: u64,
        sectors: u32,
        payload: P,
    ) -> Result<(), HostError> {
        let operation = HostOperation::Write;
        self.host
            .request(self.volume, operation, first_sector, sectors, payload)
            .await
            .map(|_| ())
    }

    /// Waits until everything acknowledged before is as safe as the settings promise.
    ///
    /// # Errors
    /// As the array says.
    pub async fn flush(&self) -> Result<(), HostError> {
        let operation = HostOperation::Flush;
        self.host
            .request(self.volume, operation, 0, 0, P::default())
            .await
            .map(|_| ())
    }

    /// Says that the contents of a stretch are not needed any more.
    ///
    /// # Errors
    /// As the array says.
    pub async fn trim(&self, first_sector: u64, sectors: u32) -> Result<(), HostError> {
        let operation = HostOperation::Trim;
        self.host
            .request(self.volume, operation, first_sector, sectors, P::default())
            .await
            .map(|_| ())
    }

    /// Takes the space that a first write would take; no time passes.
    ///
    /// # Errors
    /// If the pool below has no space.
    pub fn lay_out(
        &self,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), HostError> {
        self.host
            .with(|model| model.lay_out(self.volume, first_sector, sectors, first_write))
    }
}

impl<P: Payload, M: VolumeModel<P>> ArrayHost<P, M> {
    /// A volume of the array; `None` if there is no such volume.
    #[must_use]
    pub fn volume(&self, volume: VolumeId) -> Option<ArrayVolume<P, M>> {
        let capacity_sectors = self.with(|model| model.capacity_sectors(volume))?;
        Some(ArrayVolume::new(self.clone(), volume, capacity_sectors))
    }
}
