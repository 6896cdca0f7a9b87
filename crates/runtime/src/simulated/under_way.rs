//! Requests of simulated storage, which no driver knows.

use crate::executor::Handle;
use crate::file::IoOperation;
use crate::outstanding::OutstandingRequest;

/// A request of simulated storage that is under way until this is dropped.
pub(super) struct UnderWay {
    handle: Handle,
    number: u64,
}

impl UnderWay {
    /// A request to `file` begins.
    pub(super) fn begin(
        handle: &Handle,
        operation: IoOperation,
        file: &str,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Self {
        let request = OutstandingRequest {
            issued_ns: handle.now_ns(),
            file: file.to_owned(),
            operation: operation.name(),
            is_change: !matches!(
                operation,
                IoOperation::Open | IoOperation::Read | IoOperation::List
            ),
            offset_bytes,
            length_bytes,
        };
        Self {
            number: handle.simulated_requests().begin(request),
            handle: handle.clone(),
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.handle.simulated_requests().end(self.number);
    }
}
