//! Ctrl-C: the first time the run ends cleanly and keeps what it has, the second time at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use workload::progress::StopRequest;

use crate::exit::ExitStatus;

/// A request that SIGINT and SIGTERM make. A second signal ends the program on the spot.
pub fn stop_on_signals() -> io::Result<StopRequest> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so that it sees the flag as it was before this signal.
        let status = i32::from(ExitStatus::Interrupted.code());
        flag::register_conditional_shutdown(signal, status, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(StopRequest::sharing(asked))
}
