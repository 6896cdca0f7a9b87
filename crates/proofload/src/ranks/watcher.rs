//! Ends the run of this rank when another one has ended early or is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::ranks::Peers;
use workload::progress::StopRequest;

use super::outcome::{Whole, lock};

/// How often a rank looks whether another one has ended.
const INTERVAL: Duration = Duration::from_millis(20);

/// After somebody has asked for the end, the document of the whole is written so often: a launcher that has
/// lost a process asks for it, and kills all of them a second or two later.
const INTERVAL_AFTER_STOP: Duration = Duration::from_millis(250);

/// Looks after the other ranks until the run of this one has ended.
pub struct Watcher {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watcher {
    /// Begins; rank 0 keeps the document of the `whole` up to date.
    pub fn begin(peers: Arc<Peers>, whole: Option<Arc<Mutex<Whole>>>, stop: StopRequest) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut written = Instant::now();
            while !over.load(Ordering::Relaxed) {
                if peers.early().is_some() {
                    stop.stop();
                }
                if let Some(whole) = &whole
                    && stop.is_stopped()
                    && written.elapsed() >= INTERVAL_AFTER_STOP
                {
                    written = Instant::now();
                    lock(whole).write_now(&peers);
                }
                std::thread::sleep(INTERVAL);
            }
        });
        Self { is_over, thread }
    }

    /// The run has ended.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It only sleeps and writes a document.
        let _ = self.thread.join();
    }
}
