//! What clients do with each volume, interval by interval.

use std::sync::Arc;

use array::{HostOperation, VolumeId};
use measure::metric::Stream;
use measure::sample::{Layout, Phase, Recorder, ShardSample};

use crate::volume::ServedVolume;

/// Counts the requests to each volume until somebody takes the counts.
#[derive(Debug)]
pub struct Meter {
    volumes: Vec<VolumeId>,
    counts: Recorder,
}

impl Meter {
    /// Counts requests to these volumes, from `now_ns` on.
    #[must_use]
    pub fn new(volumes: &[ServedVolume], now_ns: u64) -> Self {
        let names = volumes.iter().map(|volume| volume.name.clone());
        let layout = Layout::new(names, Vec::<String>::new());
        Self {
            volumes: volumes.iter().map(|volume| volume.id).collect(),
            counts: Recorder::new(Arc::new(layout), 0, Phase::Measured, now_ns),
        }
    }

    /// The names of the volumes, as a collector of the counts needs them.
    #[must_use]
    pub fn layout(&self) -> Arc<Layout> {
        Arc::clone(self.counts.layout())
    }

    /// A request of so many bytes has ended after `took_ns`, or failed.
    pub(crate) fn note(
        &mut self,
        volume: VolumeId,
        operation: HostOperation,
        bytes: u64,
        took_ns: Option<u64>,
    ) {
        let Some(volume) = self.volumes.iter().position(|one| *one == volume) else {
            return;
        };
        let stream = match operation {
            HostOperation::Read => Stream::DatabaseRead,
            HostOperation::Write => Stream::DatabaseWrite,
            HostOperation::Flush | HostOperation::Trim => Stream::OtherWrite,
        };
        match took_ns {
            Some(took_ns) => self.counts.io(volume, stream, bytes, took_ns),
            None => self.counts.io_error(volume, stream),
        }
    }

    /// The counts since they were taken last.
    pub fn take(&mut self, now_ns: u64) -> ShardSample {
        self.counts.take(now_ns)
    }
}
