//! One line per sample, for logs and pipes.

use std::io::Write;
use std::time::Duration;

use measure::result::RunResult;
use measure::sample::Sample;
use workload::controller::RunListener;
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::figures;
use crate::human;

/// Writes a line for each phase, each sample, each note, and each tenth of a build.
pub struct LinesView<W: Write> {
    out: W,
    phase: Phase,
    expected: Option<Duration>,
    /// The tenth of the present phase that was told last.
    tenth: u64,
}

impl<W: Write> LinesView<W> {
    /// A view that writes to `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            phase: Phase::Opening,
            expected: None,
            tenth: 0,
        }
    }

    /// A failed write of progress must not end a run, so it is let go.
    fn line(&mut self, text: &str) {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let _ = writeln!(self.out, "{time} {text}");
    }

    fn figures(&mut self, sample: &LiveSample) {
        let expected = self.expected;
        let of = expected.map_or(String::new(), |span| {
            format!(" of {}", figures::clock(span))
        });
        let mut text = format!(
            "{} {}{of}: {}",
            self.phase.title(),
            figures::clock(sample.elapsed),
            figures::sample(sample)
        );
        if self.phase == Phase::Measuring {
            text.push_str(&format!("; {}", figures::standing(sample)));
        }
        self.line(&text);
    }
}

impl<W: Write> RunListener for LinesView<W> {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        (self.phase, self.expected, self.tenth) = (phase, expected, 0);
        let length = expected.map_or(String::new(), |span| {
            format!(" for {}", figures::clock(span))
        });
        self.line(&format!("{}{length}", phase.title()));
    }

    fn progress(&mut self, progress: ByteProgress) {
        let total = progress.total_bytes.max(1);
        let tenth = (u128::from(progress.done_bytes) * 10 / u128::from(total)) as u64;
        let tenth = tenth.min(10);
        if tenth > self.tenth {
            self.tenth = tenth;
            let done = human::size(progress.done_bytes);
            let total = human::size(progress.total_bytes);
            self.line(&format!("{}: {done} of {total}", self.phase.title()));
        }
    }

    fn sample(&mut self, _sample: &Sample, figures: &LiveSample, _so_far: &RunResult) {
        self.figures(figures);
    }

    fn note(&mut self, text: &str) {
        self.line(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_reads_as_a_log() {
        let mut view = LinesView::new(Vec::new());
        view.phase(Phase::Building, None);
        for done_bytes in 0..=100 {
            view.progress(ByteProgress {
                done_bytes,
                total_bytes: 100,
            });
        }
        view.phase(Phase::Measuring, Some(Duration::from_secs(60)));
        view.figures(&LiveSample {
            elapsed: Duration::from_secs(15),
            iops: 10.0,
            target_iops: None,
            database_read_ms: Some(1.0),
            log_write_ms: Some(2.0),
            threads: 4,
            failing: Vec::new(),
        });
        view.note("something");
        let text = String::from_utf8(view.out).unwrap();
        assert_eq!(text.lines().count(), 1 + 10 + 1 + 1 + 1, "{text}");
        assert!(
            text.contains("measuring 0:15 of 1:00: 10 IOPS, read 1.00 ms"),
            "{text}"
        );
    }
}
