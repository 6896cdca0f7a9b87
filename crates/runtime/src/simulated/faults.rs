//! Faults ordered in advance: "the third write to a log file fails".

use crate::file::{IoFailure, IoOperation};
use std::cell::Cell;

/// What happens to a request that the fault strikes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultEffect {
    /// The request fails and changes nothing. A flush that fails also forgets the writes it should
    /// have made durable: a later flush will not save them.
    Fail(IoFailure),
    /// One bit of the bytes read is wrong, this once; the bytes on the disk are right.
    FlipBit,
    /// One bit of the bytes written is wrong from now on.
    CorruptWrite,
    /// A write is reported as done and was never made, so that later reads find the old bytes.
    LoseWrite,
    /// A write is reported as done but went `by_bytes` further into the file than asked (less far
    /// if negative). It is lost if that is outside the file.
    MisdirectWrite {
        /// Distance in bytes, whole blocks.
        by_bytes: i64,
    },
    /// The request takes this much longer, and then succeeds.
    Delay {
        /// Nanoseconds on top of the latency that was drawn; `u64::MAX` means that it is never answered.
        by_ns: u64,
    },
    /// A read returns what the file held when the disk was powered on; what did not exist then reads
    /// as zeroes. The bytes on the disk are right.
    ReadStale,
    /// Power is lost just as the request begins; the number is the seed for
    /// [`super::SimulatedDisk::crash`].
    CutPower(u64),
}

/// A fault and when it strikes.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The kind of request; `None` means any.
    pub operation: Option<IoOperation>,
    /// Part of the file's name with its directory, such as `log/E00`; `None` means any file.
    pub file_contains: Option<String>,
    /// Which matching request is the first to be affected, counted from 1 when the fault is set.
    pub from: u64,
    /// How many matching requests in a row are affected; `u64::MAX` means all that follow.
    pub count: u64,
    /// What happens to these requests.
    pub effect: FaultEffect,
}

impl Fault {
    /// A fault that strikes the `nth` request of that kind, counted from 1, once.
    #[must_use]
    pub fn once(operation: IoOperation, nth: u64, effect: FaultEffect) -> Self {
        Self {
            operation: Some(operation),
            file_contains: None,
            from: nth,
            count: 1,
            effect,
        }
    }

    /// A fault that strikes the `nth` request of that kind, counted from 1, and all later ones.
    #[must_use]
    pub fn from_then_on(operation: IoOperation, nth: u64, effect: FaultEffect) -> Self {
        Self {
            count: u64::MAX,
            ..Self::once(operation, nth, effect)
        }
    }

    /// The same fault, striking (and counting) only files whose name contains `part`.
    #[must_use]
    pub fn on_file(self, part: &str) -> Self {
        Self {
            file_contains: Some(part.to_owned()),
            ..self
        }
    }
}

/// A fault with its count of matching requests.
pub(super) struct ArmedFault {
    fault: Fault,
    seen: Cell<u64>,
}

impl ArmedFault {
    pub(super) fn new(fault: Fault) -> Self {
        assert!(fault.from > 0, "requests are counted from 1");
        Self {
            fault,
            seen: Cell::new(0),
        }
    }

    /// Counts a request, and says what happens to it if it is affected.
    pub(super) fn strike(&self, operation: IoOperation, file: &str) -> Option<FaultEffect> {
        let fault = &self.fault;
        if fault.operation.is_some_and(|only| only != operation) {
            return None;
        }
        if fault
            .file_contains
            .as_ref()
            .is_some_and(|part| !file.contains(part.as_str()))
        {
            return None;
        }
        let number = self.seen.get() + 1;
        self.seen.set(number);
        (number >= fault.from && number - fault.from < fault.count).then(|| fault.effect.clone())
    }
}
