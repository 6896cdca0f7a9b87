//! Programs that the kernel refuses a system call, as a container or an old kernel does.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

/// Number of the system call that sets up io_uring, the same on all processors.
pub const IO_URING_SETUP: i64 = 425;

/// Runs `what` on a thread for which, and for all programs that it starts, this system call fails with
/// this error number.
pub fn without<T: Send>(system_call: i64, errno: u32, what: impl FnOnce() -> T + Send) -> T {
    let processor = std::env::consts::ARCH
        .try_into()
        .expect("a known processor");
    let filter: Result<SeccompFilter, _> = SeccompFilter::new(
        BTreeMap::from([(system_call, Vec::new())]),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        processor,
    );
    let filter: BpfProgram = filter
        .and_then(TryInto::try_into)
        .expect("a filter of system calls");
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&filter).expect("the kernel takes a filter");
            what()
        });
        thread.join().expect("what was to be done")
    })
}
