//! Requests of a killed run: the kernel completes them later, and until then they change its files.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use runtime::host::{
    DirectoryHandle, EntryKind, FileLock, LockKind, REQUESTS_PAUSE, REQUESTS_WAIT_MAX,
    requests_are_under_way,
};
use workload::Refusal;

/// A wait that takes longer is reported.
const NOTIFY_AFTER: Duration = Duration::from_secs(2);

/// Waits until no requests of a killed run are under way on the files of a directory. `notify` hears
/// when that takes a while. Files that a process has locked for writing are left to whoever opens them.
///
/// # Errors
/// They are still under way after ten minutes, or the directory cannot be read.
pub fn wait_for_requests(
    directory: &DirectoryHandle,
    notify: &mut dyn FnMut(&str),
) -> Result<(), Refusal> {
    Wait::begin(notify).on_files_in(directory)
}

/// One wait, for all files that it has to do with.
pub(crate) struct Wait<'a> {
    begun: Instant,
    notify_after: Duration,
    longest: Duration,
    notify: Option<&'a mut dyn FnMut(&str)>,
}

impl<'a> Wait<'a> {
    pub(crate) fn begin(notify: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            begun: Instant::now(),
            notify_after: NOTIFY_AFTER,
            longest: REQUESTS_WAIT_MAX,
            notify: Some(notify),
        }
    }

    /// Waits for the requests on the files of a directory.
    pub(crate) fn on_files_in(&mut self, directory: &DirectoryHandle) -> Result<(), Refusal> {
        let entries = directory
            .entries()
            .map_err(|error| unreadable(directory.path(), &error))?;
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
            // Whoever cannot open or lock a file has no requests to it either, and says why.
            let Ok(file) = directory.read_file(&entry.name) else {
                continue;
            };
            let Ok(lock) = FileLock::take(file.into(), LockKind::Shared) else {
                continue;
            };
            self.on(&lock, &directory.path().join(&entry.name))?;
        }
        Ok(())
    }

    /// Waits for the requests on a file or device, which nobody else uses.
    pub(crate) fn on(&mut self, file: &impl AsFd, path: &Path) -> Result<(), Refusal> {
        while requests_are_under_way(file) {
            let waited = self.begun.elapsed();
            if waited >= self.notify_after
                && let Some(notify) = self.notify.take()
            {
                notify(&format!(
                    "waiting for requests of the killed run that are still under way on {}",
                    path.display()
                ));
            }
            if waited >= self.longest {
                return Err(never_complete(path, waited));
            }
            std::thread::sleep(REQUESTS_PAUSE);
        }
        Ok(())
    }
}

fn never_complete(path: &Path, waited: Duration) -> Refusal {
    Refusal::environment(
        format!(
            "Requests of a killed run are still under way on {} after {} s. They would overwrite what \
             is written now.",
            path.display(),
            waited.as_secs()
        ),
        "See why the device does not complete them ('dmesg' shows errors, 'iostat -x' its queue); a \
         restart of the host ends them.",
    )
}

fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    Refusal::environment(
        format!("{} cannot be read: {error}.", path.display()),
        "Run as a user who may read it, such as root, or see whether its file system is well.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::{Directory, HostDirectory, Runtime, WallClockOptions};
    use std::fs::File;
    use std::sync::mpsc;
    use workload::ErrorClass;

    const FILE: &str = "file";

    /// A file that a runtime on another thread has open for requests until it is to close it. The
    /// thread is ready when this returns; `None` where real storage cannot be used.
    fn held(directory: &Path) -> Option<(mpsc::Sender<()>, std::thread::JoinHandle<()>)> {
        let path = directory.to_owned();
        let (ready, is_ready) = mpsc::channel();
        let (close, closes) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let Ok(runtime) = Runtime::wall_clock(&WallClockOptions::default()) else {
                return test_support::skip("io_uring is not available");
            };
            let Ok(directory) = HostDirectory::open(&runtime.handle(), &path) else {
                return test_support::skip("the file system has no direct I/O");
            };
            let _file = runtime
                .block_on(async move { directory.create(FILE).await })
                .expect("a new file");
            let _ = ready.send(());
            let _ = closes.recv();
        });
        is_ready.recv().ok()?;
        Some((close, thread))
    }

    #[test]
    fn requests_are_waited_for_and_the_wait_is_reported() {
        let root = tempfile::tempdir_in(crate::testing::disk()).expect("a directory");
        let Some((close, thread)) = held(root.path()) else {
            return;
        };
        let path = root.path().join(FILE);
        let file = File::open(&path).expect("the file");
        let mut notified = Vec::new();
        let mut notify = |text: &str| {
            notified.push(text.to_owned());
            let _ = close.send(());
        };
        let mut wait = Wait {
            notify_after: Duration::ZERO,
            ..Wait::begin(&mut notify)
        };
        wait.on(&file, &path).expect("an end of the wait");
        thread.join().expect("the thread");
        let expected = format!(
            "waiting for requests of the killed run that are still under way on {}",
            path.display()
        );
        assert_eq!(notified, [expected]);
    }

    #[test]
    fn requests_that_are_never_complete_are_an_error_of_the_environment() {
        let root = tempfile::tempdir_in(crate::testing::disk()).expect("a directory");
        let Some((close, thread)) = held(root.path()) else {
            return;
        };
        let path = root.path().join(FILE);
        let mut notify = |_: &str| {};
        let mut wait = Wait {
            longest: Duration::ZERO,
            ..Wait::begin(&mut notify)
        };
        let file = File::open(&path).expect("the file");
        let refusal = wait.on(&file, &path).expect_err("a file with requests");
        assert_eq!(refusal.class, ErrorClass::Environment);
        // A file that is locked for writing is somebody's, and left to whoever opens it.
        let directory = DirectoryHandle::open(root.path()).expect("the directory");
        wait.on_files_in(&directory).expect("nothing to wait for");
        drop(close);
        thread.join().expect("the thread");
        wait.on(&file, &path).expect("no requests");
    }
}
