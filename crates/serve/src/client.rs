//! Requests to a live array, and questions about it, from any thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use array::payload::Bytes;
use array::{Array, Fault, HostError, HostOperation, HostRequest, VolumeId};

use crate::served::Served;

/// Hands over the end of a request. It runs on the thread of the model, and must not wait.
pub(crate) type Answer = Box<dyn FnOnce(Result<Bytes, HostError>) + Send>;

/// Finds something out about the array and what clients have seen of it.
pub(crate) type Look = Box<dyn FnOnce(&mut Array<Bytes>, &mut Served) + Send>;

/// Finds something out about the array. It runs on the thread of the model, and must not wait.
pub(crate) type Inspection = Box<dyn FnOnce(&Array<Bytes>) + Send>;

/// What the thread of the model is asked for.
pub(crate) enum Command {
    Request {
        /// When it came, since the start.
        at_ns: u64,
        request: HostRequest<Bytes>,
        answer: Answer,
        /// How often the power had been cut when what it belongs to was opened; `None` where that does not matter.
        opened_at: Option<u64>,
    },
    /// Something is to happen, each after so many nanoseconds.
    Faults {
        faults: Vec<(u64, Fault)>,
        /// Gets the time of the array when they began.
        begun: Sender<u64>,
    },
    Inspect(Inspection),
    /// Somebody wants to see the array as it is now.
    Look(Look),
    Stop,
}

/// Submits requests to a live array, from any thread.
#[derive(Clone)]
pub struct Client {
    pub(crate) sender: Sender<Command>,
    pub(crate) started: Instant,
    pub(crate) power_cuts: Arc<AtomicU64>,
    pub(crate) opened_at: Option<u64>,
    /// Held by a write that first reads what is around it.
    pub(crate) unaligned: Arc<Mutex<()>>,
}

impl Client {
    /// Submits a request now; `answer` gets its end on the thread of the model. An array that has ended
    /// answers with an error.
    pub(crate) fn submit(
        &self,
        volume: VolumeId,
        operation: HostOperation,
        (first_sector, sectors): (u64, u32),
        payload: Bytes,
        answer: Answer,
    ) {
        let request = HostRequest {
            tag: 0, // The thread of the model numbers them.
            volume,
            operation,
            first_sector,
            sectors,
            payload,
        };
        let at_ns = self.started.elapsed().as_nanos() as u64;
        let command = Command::Request {
            at_ns,
            request,
            answer,
            opened_at: self.opened_at,
        };
        if let Err(mpsc::SendError(Command::Request { answer, .. })) = self.sender.send(command) {
            answer(Err(HostError::NoPath));
        }
    }

    /// How often the power of the array was cut so far.
    pub(crate) fn power_cuts(&self) -> u64 {
        self.power_cuts.load(Ordering::Acquire)
    }

    /// The same for what was opened when the power had been cut so often: once it is cut again, all requests fail.
    pub(crate) fn opened_at(&self, power_cuts: u64) -> Self {
        Self {
            opened_at: Some(power_cuts),
            ..self.clone()
        }
    }

    /// Lets something happen to the array now, each after so many nanoseconds, and gives its time then; `None` if the
    /// array has ended.
    #[must_use]
    pub fn inject(&self, faults: Vec<(u64, Fault)>) -> Option<u64> {
        let (begun, has_begun) = mpsc::channel();
        let _ = self.sender.send(Command::Faults { faults, begun });
        has_begun.recv().ok()
    }

    /// Has something found out about the array; takes no time in the model. An array that has ended drops
    /// `inspection`.
    pub(crate) fn inspect(&self, inspection: Inspection) {
        let _ = self.sender.send(Command::Inspect(inspection));
    }

    /// Finds something out about the array as it is now, and about what clients have seen; takes no time in the
    /// model. `None` if the array has ended.
    #[must_use]
    pub fn look<T: Send + 'static>(
        &self,
        find_out: impl FnOnce(&mut Array<Bytes>, &mut Served) -> T + Send + 'static,
    ) -> Option<T> {
        let (found, is_found) = mpsc::channel();
        let look: Look = Box::new(move |array, served| {
            let _ = found.send(find_out(array, served));
        });
        let _ = self.sender.send(Command::Look(look));
        is_found.recv().ok()
    }

    /// Submits a request and waits for its end.
    ///
    /// # Errors
    /// As the array says.
    pub(crate) fn wait(
        &self,
        volume: VolumeId,
        operation: HostOperation,
        extent: (u64, u32),
        payload: Bytes,
    ) -> Result<Bytes, HostError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let answer = Box::new(move |end| drop(sender.send(end)));
        self.submit(volume, operation, extent, payload, answer);
        receiver.recv().unwrap_or(Err(HostError::NoPath))
    }
}
