//! Events as NDJSON into a file, a pipe or standard output, written as they happen.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use proofload::Error;
use rustix::fs::{Access, access};

use crate::record::Body;

/// What stands for standard output among file names.
pub const OUTPUT: &str = "-";

/// Lines that wait for a slow reader at most.
const MOST_WAITING: usize = 4_096;
/// Passing lines are left out while more than this wait.
const PASSING_WAITING: usize = 256;
/// How long the end of a run waits for a slow reader.
const LAST_LINES: Duration = Duration::from_secs(5);

/// Writes events from a thread of its own: a slow reader costs events, which are counted, and never
/// time of the run.
pub struct EventStream {
    lines: Option<SyncSender<String>>,
    /// One message for each line that was written; the difference is what waits.
    written: Receiver<io::Result<()>>,
    waiting: usize,
    left_out: u64,
    path: PathBuf,
}

impl EventStream {
    /// Opens a new file, an empty one, a pipe or `-`, which is standard output.
    ///
    /// # Errors
    /// The file holds something, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new(OUTPUT) {
            return Self::to(io::stdout(), path);
        }
        Self::check(path)?;
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|error| unwritable(path, &error))?;
        Self::to(file, path)
    }

    /// Checks that it can be opened, as far as can be seen without creating it.
    ///
    /// # Errors
    /// The file holds something, or may not be written.
    pub fn check(path: &Path) -> Result<(), Error> {
        if path == Path::new(OUTPUT) {
            return Ok(());
        }
        let refused = |error: &io::Error| Err(unwritable(path, error));
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => refused(&ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_file() && found.len() > 0 => Err(Error::usage(
                format!("{} holds something already.", path.display()),
                "Name a file that does not exist yet with --events.",
            )),
            Ok(_) => access(path, Access::WRITE_OK).or_else(|error| refused(&error.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
                let parent = parent.unwrap_or(Path::new("."));
                access(parent, Access::WRITE_OK | Access::EXEC_OK)
                    .or_else(|error| refused(&error.into()))
            }
            Err(error) => refused(&error),
        }
    }

    /// Whether opening it waits for a reader.
    #[must_use]
    pub fn is_pipe(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }

    fn to(mut out: impl Write + Send + 'static, path: &Path) -> Result<Self, Error> {
        let (lines, to_write) = sync_channel::<String>(MOST_WAITING);
        let (report, written) = channel();
        let writer = move || {
            for line in to_write {
                let done = out.write_all(line.as_bytes()).and_then(|()| out.flush());
                let failed = done.is_err();
                if report.send(done).is_err() || failed {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("events".to_owned());
        thread
            .spawn(writer)
            .map_err(|error| unwritable(path, &error))?;
        Ok(Self {
            lines: Some(lines),
            written,
            waiting: 0,
            left_out: 0,
            path: path.to_owned(),
        })
    }

    /// Hands a line to the writer. The first failure to write is returned as a sentence, once.
    pub fn send(&mut self, body: Body<'_>) -> Option<String> {
        let trouble = self.take_in();
        let most = match body.is_passing() {
            true => PASSING_WAITING,
            false => MOST_WAITING - 1,
        };
        if self.waiting >= most {
            self.left_out += u64::from(self.lines.is_some());
            return trouble;
        }
        if self.left_out > 0 {
            let events = std::mem::take(&mut self.left_out);
            self.hand_over(Body::LeftOut { events }.line());
        }
        self.hand_over(body.line());
        trouble
    }

    fn hand_over(&mut self, line: String) {
        let Some(lines) = &self.lines else {
            return;
        };
        match lines.try_send(line) {
            Ok(()) => self.waiting += 1,
            Err(TrySendError::Full(_)) => self.left_out += 1,
            // The reason is among the messages of the writer.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Reads what the writer has reported.
    fn take_in(&mut self) -> Option<String> {
        while let Ok(done) = self.written.try_recv() {
            self.waiting = self.waiting.saturating_sub(1);
            if let Err(error) = done {
                self.lines = None;
                return self.explain(&error);
            }
        }
        None
    }

    /// A reader that has gone, such as `| head`, has what it wanted.
    fn explain(&self, error: &io::Error) -> Option<String> {
        (error.kind() != io::ErrorKind::BrokenPipe).then(|| {
            format!(
                "The events can no longer be written to {}: {error}. The run goes on without them.",
                self.path.display()
            )
        })
    }

    /// Writes the last line, and waits a few seconds for a slow reader. A failure to write is returned
    /// as a sentence.
    pub fn finish(mut self, last: Body<'_>) -> Option<String> {
        let trouble = self.send(last);
        drop(self.lines.take());
        let until = std::time::Instant::now() + LAST_LINES;
        while self.waiting > 0 {
            let left = until.saturating_duration_since(std::time::Instant::now());
            match self.written.recv_timeout(left) {
                Ok(Ok(())) => self.waiting -= 1,
                Ok(Err(error)) => return self.explain(&error),
                Err(_) => break,
            }
        }
        trouble
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::environment(
        format!("The events {} cannot be written: {error}.", path.display()),
        "Name another file with --events.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::Sender;

    /// Takes in a line whenever it is allowed one.
    struct Slow(Receiver<()>, Sender<String>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let gone = || io::Error::other("nobody reads");
            self.0.recv().map_err(|_| gone())?;
            let line = String::from_utf8_lossy(bytes).into_owned();
            self.1.send(line).map_err(|_| gone())?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_reader_costs_events_which_are_counted() {
        let (allow, allowed) = channel();
        let (lines, read) = channel();
        let mut stream = EventStream::to(Slow(allowed, lines), Path::new("x")).unwrap();
        let sent = PASSING_WAITING + 40;
        for _ in 0..sent {
            assert_eq!(stream.send(Body::Activity { text: "a" }), None);
        }
        // What stays true is kept although passing lines are not.
        stream.send(Body::Note { text: "kept" });
        for _ in 0..PASSING_WAITING + 3 {
            allow.send(()).unwrap();
        }
        assert_eq!(stream.finish(Body::Note { text: "last" }), None);
        let lines: Vec<String> = read.iter().collect();
        assert_eq!(lines.len(), PASSING_WAITING + 3);
        let end: Vec<&str> = lines[PASSING_WAITING..].iter().map(|one| &**one).collect();
        assert!(
            end[0].contains("\"event\":\"left-out\",\"events\":40"),
            "{end:?}"
        );
        assert!(
            end[1].contains("kept") && end[2].contains("last"),
            "{end:?}"
        );
    }

    #[test]
    fn a_full_disk_is_reported_once() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut stream = EventStream::to(full, Path::new("/x/events")).unwrap();
        let mut texts = Vec::new();
        for _ in 0..200 {
            texts.extend(stream.send(Body::Note { text: "a" }));
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains("/x/events: No space left"), "{texts:?}");
    }

    #[test]
    fn a_file_that_holds_something_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events");
        std::fs::write(&path, "mine").unwrap();
        let refused = EventStream::open(&path).err().expect("it is refused");
        assert!(refused.to_string().contains("holds something"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }
}
