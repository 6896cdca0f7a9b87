//! The progress of work on several databases at the same time, reported as one.

use super::host::Progress;
use runtime::{IoCause, IoDirection, IoError, IoEvent, IoObserver};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Progress is reported every few megabytes.
const REPORTED_BYTES: u64 = 4 << 20;

/// Bytes handled of several databases.
pub(super) struct Parts {
    sizes_bytes: Vec<u64>,
    done_bytes: RefCell<Vec<u64>>,
    reported_bytes: Cell<u64>,
    report: Box<dyn Fn(u64)>,
    goes_on: Box<dyn Fn() -> bool>,
}

impl Parts {
    /// Parts of these sizes. `report` hears the bytes of all of them together; `goes_on` says whether to.
    pub(super) fn new(
        sizes_bytes: Vec<u64>,
        report: impl Fn(u64) + 'static,
        goes_on: impl Fn() -> bool + 'static,
    ) -> Rc<Self> {
        Rc::new(Self {
            done_bytes: RefCell::new(vec![0; sizes_bytes.len()]),
            sizes_bytes,
            reported_bytes: Cell::new(0),
            report: Box::new(report),
            goes_on: Box::new(goes_on),
        })
    }

    /// The progress of one part.
    pub(super) fn progress(self: &Rc<Self>, part: usize) -> Progress {
        let parts = Rc::clone(self);
        Rc::new(move |bytes| {
            parts.set(part, bytes);
            (parts.goes_on)()
        })
    }

    /// All of this part is done.
    pub(super) fn finish(&self, part: usize) {
        self.set(part, self.sizes_bytes[part]);
    }

    fn set(&self, part: usize, bytes: u64) {
        let mut done_bytes = self.done_bytes.borrow_mut();
        done_bytes[part] = bytes.min(self.sizes_bytes[part]);
        let all: u64 = done_bytes.iter().sum();
        let last = self.reported_bytes.get();
        if all >= last + REPORTED_BYTES || all < last {
            self.reported_bytes.set(all);
            (self.report)(all);
        }
    }
}

/// Passes requests on to another observer, and the bytes of the log that were read as progress.
pub(super) struct CountingLogReads {
    inner: Rc<dyn IoObserver>,
    read_bytes: Cell<u64>,
    progress: Progress,
}

impl CountingLogReads {
    pub(super) fn new(inner: Rc<dyn IoObserver>, progress: Progress) -> Self {
        Self {
            inner,
            read_bytes: Cell::new(0),
            progress,
        }
    }
}

impl IoObserver for CountingLogReads {
    fn failed(&self, event: &IoEvent, error: &IoError) {
        self.inner.failed(event, error);
    }

    fn completed(&self, event: &IoEvent) {
        self.inner.completed(event);
        if (event.cause, event.direction) == (IoCause::Log, IoDirection::Read) {
            self.read_bytes
                .set(self.read_bytes.get() + event.length_bytes);
            (self.progress)(self.read_bytes.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_reported_together_and_none_beyond_its_size() {
        const MIB: u64 = 1 << 20;
        let reported: Rc<RefCell<Vec<u64>>> = Rc::default();
        let heard = Rc::clone(&reported);
        let report = move |bytes| heard.borrow_mut().push(bytes);
        let parts = Parts::new(vec![10 * MIB, 20 * MIB], report, || true);
        let (first, second) = (parts.progress(0), parts.progress(1));
        assert!(first(5 * MIB));
        assert!(second(MIB));
        assert!(second(6 * MIB));
        assert!(first(50 * MIB));
        parts.finish(1);
        let expected = [5, 11, 16, 30].map(|mib| mib * MIB);
        assert_eq!(*reported.borrow(), expected);
    }
}
