//! Notification of the observer of every request that has completed.

use runtime::{Handle, IoCause, IoDirection, IoError, IoEvent, IoObserver};

/// A request as far as the observer cares: which way, from which byte on, how many bytes.
pub(crate) type Shape = (IoDirection, u64, u64);

/// Reports a request that was made at `issued_ns` and has completed now, or failed with `error`.
pub(crate) fn notify_observer(
    handle: &Handle,
    observer: &dyn IoObserver,
    cause: IoCause,
    shape: Shape,
    issued_ns: u64,
    error: Option<&IoError>,
) {
    let (direction, offset_bytes, length_bytes) = shape;
    let event = IoEvent {
        cause,
        direction,
        offset_bytes,
        length_bytes,
        issued_ns,
        completed_ns: handle.now_ns(),
        succeeded: error.is_none(),
    };
    if let Some(error) = error {
        observer.failed(&event, error);
    }
    observer.completed(&event);
}
