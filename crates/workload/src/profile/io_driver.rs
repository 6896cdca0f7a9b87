//! `run.io_driver`: how requests of our own engine reach the kernel.

use config::choice;

choice! {
    /// How requests reach the kernel.
    pub enum IoDriverChoice default Auto {
        /// Through io_uring, or through threads where the kernel or a container refuses it.
        Auto = "auto",
        /// Through io_uring or not at all.
        IoUring = "io-uring",
        /// Through threads, each of which makes one system call at a time.
        Threads = "threads",
    }
}
