//! Lines for logs and pipes: calm enough to be kept, complete enough to be read afterwards.

use std::io::Write;
use std::time::{Duration, Instant};

use measure::display::number::duration;
use measure::sample::Phase as SamplePhase;
use measure::units;
use proofload::{Event, Observer};
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::figures;
use super::speed::Speed;

/// Time between two lines about the bytes of one phase.
const QUIET: Duration = Duration::from_secs(10);

/// A sample shorter than this part of the usual length is only the rest of a phase.
const REST_OF_A_PHASE: f64 = 0.5;

/// By so much a time that is rounded to a second may be too long.
const REST_OF_A_SECOND: Duration = Duration::from_millis(500);

/// Writes a line for each phase, for each sample under load, for each note, and one now and then
/// while databases are built or verified.
pub struct LinesView<W: Write> {
    out: W,
    phase: Phase,
    began: Instant,
    /// Expected length of the measured phase.
    measured: Option<Duration>,
    progress: Option<ByteProgress>,
    printed: Instant,
    /// Phase and time, in whole seconds, of the last line about a sample.
    sample: Option<(Phase, Duration)>,
    /// Whether time is simulated; then its speed is of interest.
    simulated: bool,
    speed: Speed,
}

impl<W: Write> LinesView<W> {
    /// A view that writes to `out`. Of simulated time, the speed is written, too.
    pub fn new(out: W, simulated: bool) -> Self {
        let now = Instant::now();
        Self {
            out,
            phase: Phase::Opening,
            began: now,
            measured: None,
            progress: None,
            printed: now,
            sample: None,
            simulated,
            speed: Speed::new(),
        }
    }

    /// A failed write of progress must not end a run, so it is let go.
    fn line(&mut self, text: &str) {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let _ = writeln!(self.out, "{time} {text}");
    }

    fn bytes(&mut self, progress: ByteProgress, now: Instant) {
        self.progress = Some(progress);
        if now.saturating_duration_since(self.printed) >= QUIET {
            self.printed = now;
            let spent = now.saturating_duration_since(self.began);
            let left = figures::about_left(figures::time_left(progress, spent));
            let text = format!("{}: {}{left}", self.phase.title(), of_total(progress));
            self.line(&text);
        }
    }

    /// How far a phase that handles bytes came in the end.
    fn end_of_bytes(&mut self, now: Instant) {
        if let Some(progress) = self.progress.take() {
            let took = figures::clock(now.saturating_duration_since(self.began));
            let text = format!("{}: {} in {took}", self.phase.title(), of_total(progress));
            self.line(&text);
        }
    }

    fn figures(&mut self, phase: SamplePhase, sample: &LiveSample) {
        let (phase, expected) = match phase {
            SamplePhase::WarmUp => (Phase::WarmingUp, None),
            SamplePhase::Tuning => (Phase::Tuning, None),
            SamplePhase::Measured => (Phase::Measuring, self.measured),
            SamplePhase::Build
            | SamplePhase::Seeding
            | SamplePhase::Close
            | SamplePhase::Checksum
            | SamplePhase::Backup
            | SamplePhase::LogWriting
            | SamplePhase::Recovery => return,
        };
        let elapsed = nearest_second(sample.elapsed);
        // Of samples that are shorter than a second, one.
        if self.sample.replace((phase, elapsed)) == Some((phase, elapsed)) {
            return;
        }
        let of = expected.map_or(String::new(), |span| format!(" of {}", length(span)));
        let elapsed = match expected {
            // Rounded up beyond the end.
            Some(span) if elapsed > span && sample.elapsed < span + REST_OF_A_SECOND => {
                length(span)
            }
            _ => figures::clock(elapsed),
        };
        let mut text = format!(
            "{} {elapsed}{of}: {}",
            phase.title(),
            figures::sample(sample)
        );
        if let Some(length) = sample.without_service {
            let away = figures::without_service(length, jiff::Timestamp::now());
            text.push_str(&format!("; {away}"));
        } else if phase == Phase::Measuring {
            text.push_str(&format!("; {}", figures::standing(sample)));
        }
        if let Some(hung) = figures::hung(sample) {
            text.push_str(&format!("; {hung}"));
        }
        if let Some(estimate) = &sample.estimate {
            text.push_str(&format!(
                "; {}",
                figures::estimate(estimate, self.simulated)
            ));
        }
        self.line(&text);
    }
}

/// Samples end some milliseconds beside their time.
fn nearest_second(span: Duration) -> Duration {
    Duration::from_secs_f64(span.as_secs_f64().round())
}

/// The length of a phase. A clock would cut off what is no whole second.
fn length(span: Duration) -> String {
    match span.subsec_nanos() {
        0 => figures::clock(span),
        _ => duration(span.as_secs_f64()),
    }
}

fn of_total(progress: ByteProgress) -> String {
    let done = units::size(progress.done_bytes);
    format!("{done} of {}", units::size(progress.total_bytes))
}

impl<W: Write> Drop for LinesView<W> {
    fn drop(&mut self) {
        self.end_of_bytes(Instant::now());
    }
}

impl<W: Write> Observer for LinesView<W> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::PhaseBegan { phase, expected } => self.phase(phase, expected),
            Event::Progress(progress) => self.bytes(progress, Instant::now()),
            Event::Activity(text) => self.activity(text),
            Event::Live(figures) if self.simulated => {
                if let Some(text) = self.speed.of_prediction(figures) {
                    self.line(&text);
                }
            }
            Event::Sample {
                sample,
                figures,
                interval_s,
            } if sample.length_s >= interval_s * REST_OF_A_PHASE => {
                self.figures(sample.phase, figures);
            }
            Event::Replayed {
                requests,
                of,
                elapsed,
                span,
            } => {
                if let Some(text) = self.speed.of_replay(requests, of, elapsed, span) {
                    self.line(&text);
                }
            }
            Event::Note(text) | Event::Warning(text) => self.line(text),
            _ => {}
        }
    }
}

impl<W: Write> LinesView<W> {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        let now = Instant::now();
        self.speed.phase(phase, expected);
        self.end_of_bytes(now);
        (self.phase, self.began, self.printed) = (phase, now, now);
        if phase == Phase::Measuring {
            self.measured = expected;
        }
        let length = expected.map_or(String::new(), |span| format!(" for {}", length(span)));
        self.line(&format!("{}{length}", phase.title()));
    }

    fn activity(&mut self, text: &str) {
        let text = format!("{}: {text}", self.phase.title());
        self.line(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::progress::{Clients, Sessions};

    #[test]
    fn a_phase_of_no_whole_seconds_is_as_long_as_it_is_measured() {
        assert_eq!(length(Duration::from_secs(120)), "2:00");
        assert_eq!(length(Duration::from_millis(5_500)), "5.50 s");
    }

    fn part(done_bytes: u64) -> ByteProgress {
        ByteProgress {
            done_bytes,
            total_bytes: 100,
        }
    }

    #[test]
    fn a_run_reads_as_a_log() {
        let mut out = Vec::new();
        let mut view = LinesView::new(&mut out, false);
        view.phase(Phase::Building, None);
        let began = view.began;
        for second in 0..=60 {
            view.bytes(part(second), began + Duration::from_secs(second));
        }
        view.phase(Phase::Measuring, Some(Duration::from_secs(60)));
        let mut sample = LiveSample {
            elapsed: Duration::from_secs(15),
            iops: 10.0,
            target_iops: None,
            database_read_ms: Some(1.0),
            log_write_ms: Some(2.0),
            sessions: Sessions {
                clients: Clients::THREADS,
                count: 4,
                operations_per_second: 0.0,
            },
            failing: Vec::new(),
            estimate: None,
            without_service: None,
            hung: None,
        };
        view.figures(SamplePhase::Build, &sample);
        view.figures(SamplePhase::Measured, &sample);
        // Of the same second.
        sample.elapsed = Duration::from_millis(15_400);
        view.figures(SamplePhase::Measured, &sample);
        sample.elapsed = Duration::from_secs(16);
        sample.without_service = Some(Duration::ZERO);
        view.figures(SamplePhase::Measured, &sample);
        sample.without_service = None;
        view.phase(Phase::Closing, None);
        view.figures(SamplePhase::Close, &sample);
        // The counts of the end of a phase come when the next one has begun.
        sample.elapsed = Duration::from_secs(60);
        view.figures(SamplePhase::Measured, &sample);
        view.phase(Phase::Verifying, None);
        view.bytes(part(40), view.began);
        view.line("something");
        view.activity("the work");
        drop(view);
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().filter_map(|line| line.get(21..)).collect();
        let sample =
            "10.0 IOPS, read 1.00 ms, log write 2.00 ms, 4 threads; all service levels met so far";
        let expected = [
            "building",
            "building: 10 B of 100 B, about 1 min 30 s left",
            "building: 20 B of 100 B, about 1 min 20 s left",
            "building: 30 B of 100 B, about 1 min 10 s left",
            "building: 40 B of 100 B, about 1 min left",
            "building: 50 B of 100 B, about 50 s left",
            "building: 60 B of 100 B, about 40 s left",
            "building: 60 B of 100 B in 0:00",
            "measuring for 1:00",
            &format!("measuring 0:15 of 1:00: {sample}"),
            "closing",
            &format!("measuring 1:00 of 1:00: {sample}"),
            "verifying checksums",
            "something",
            "verifying checksums: the work",
            "verifying checksums: 40 B of 100 B in 0:00",
        ];
        let (away, lines): (Vec<&str>, Vec<&str>) = lines
            .into_iter()
            .partition(|line| line.contains("database down since"));
        assert_eq!(lines, expected, "{text}");
        assert_eq!(away.len(), 1, "{text}");
        assert!(!away[0].contains("all levels met"), "{text}");
    }
}
