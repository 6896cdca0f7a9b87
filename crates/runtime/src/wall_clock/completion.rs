//! What comes in from either I/O driver.

/// What an I/O driver has brought in.
#[derive(Clone, Copy)]
pub(super) enum Completion {
    /// A request is done, with what the kernel returned: bytes, or an error number below zero.
    Request(u32, i32),
    /// Something can be read where this wait asked.
    Readable(u32),
}
