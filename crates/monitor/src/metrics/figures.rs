//! What was measured so far, as text.

use std::fmt::Write;

use measure::metric::{Metric, RowScope};
use measure::sample::{Sample, SampleRow, rows_of};
use proofload::Event;

use super::names::{Exported, Kind, OWN, Rule, exported, label};
use crate::record::LiveFigures;
use crate::status::now_s;

/// The figures of a run so far.
pub struct Figures {
    exported: Vec<Exported>,
    /// Values by name; those of one name beside each other.
    values: Vec<(usize, String, f64)>,
    version: String,
    workload: String,
    storage: String,
    started_s: f64,
    phases: Vec<&'static str>,
    expected_s: Option<f64>,
    progress: Option<f64>,
    live: Option<LiveFigures>,
}

impl Figures {
    /// No figures of a run that begins.
    #[must_use]
    pub fn new(version: &str, workload: &str, storage: &str) -> Self {
        Self {
            exported: exported(),
            values: Vec::new(),
            version: version.to_owned(),
            workload: workload.to_owned(),
            storage: storage.to_owned(),
            started_s: now_s(),
            phases: Vec::new(),
            expected_s: None,
            progress: None,
            live: None,
        }
    }

    /// Takes in an event; whether it changed anything.
    pub fn take_in(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::PhaseBegan { phase, expected } => {
                let name = phase.name();
                self.phases.retain(|known| *known != name);
                self.phases.push(name);
                self.expected_s = expected.map(|span| span.as_secs_f64());
                (self.progress, self.live) = (None, None);
            }
            Event::Progress(progress) => {
                let total = progress.total_bytes.max(1) as f64;
                self.progress = Some(progress.done_bytes as f64 / total);
            }
            Event::Live(live) => self.live = Some(LiveFigures::of(live)),
            Event::Sample { sample, .. } => self.sample(sample),
            _ => return false,
        }
        true
    }

    fn sample(&mut self, sample: &Sample) {
        for row in rows_of(sample) {
            for index in 0..self.exported.len() {
                if self.exported[index].scope == row.scope {
                    self.value(index, &row);
                }
            }
        }
    }

    fn value(&mut self, index: usize, row: &SampleRow) {
        let one = &self.exported[index];
        let Some(value) = row.get(one.metric).filter(|value| value.is_finite()) else {
            return;
        };
        let (added, factor) = match one.rule {
            Rule::Set(factor) => (false, factor),
            Rule::Add(factor) => (true, factor),
            Rule::AddOverTime(factor) => (true, factor * row.length_s),
            Rule::AddOverRequests(rate, factor) => {
                let requests = row.get(rate).unwrap_or(0.0) * row.length_s;
                (true, factor * requests)
            }
        };
        let labels = labels(one, &row.name);
        let mut known = self.values.iter_mut();
        match known.find(|(known, text, _)| *known == index && *text == labels) {
            Some((.., kept)) if added => *kept += value * factor,
            Some((.., kept)) => *kept = value * factor,
            None => self.values.push((index, labels, value * factor)),
        }
    }

    /// The text of all figures.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, kind, _, help) in OWN {
            let values = self.own(name);
            if !values.is_empty() {
                head(&mut text, name, kind, help);
                for (labels, value) in values {
                    line(&mut text, name, &labels, value);
                }
            }
        }
        let mut written: Vec<&str> = Vec::new();
        for one in &self.exported {
            let name = one.name.as_str();
            if written.contains(&name) {
                continue;
            }
            written.push(name);
            let values = self.values.iter();
            let values = values.filter(|(index, ..)| self.exported[*index].name == name);
            let mut values = values.peekable();
            if values.peek().is_some() {
                head(&mut text, name, one.kind, &one.help);
                values.for_each(|(_, labels, value)| line(&mut text, name, labels, *value));
            }
        }
        text
    }

    /// The values of a figure that does not come from samples.
    fn own(&self, name: &str) -> Vec<(String, f64)> {
        let plain = |value: Option<f64>| value.map(|value| (String::new(), value));
        let live = self.live.as_ref();
        let one = match name {
            "proofload_build_info" => Some((pair("version", &self.version), 1.0)),
            "proofload_run_info" => {
                let (workload, storage) = (
                    pair("workload", &self.workload),
                    pair("storage", &self.storage),
                );
                Some((format!("{workload},{storage}"), 1.0))
            }
            "proofload_start_time_seconds" => plain(Some(self.started_s)),
            "proofload_phase" => {
                let last = self.phases.last();
                let all = self.phases.iter();
                let all = all.map(|one| (pair("phase", one), f64::from(Some(one) == last)));
                return all.collect();
            }
            "proofload_phase_elapsed_seconds" => plain(live.map(|live| live.elapsed_s)),
            "proofload_phase_expected_seconds" => plain(self.expected_s),
            "proofload_progress_ratio" => plain(self.progress),
            "proofload_live_transactional_io_per_second" => plain(live.and_then(|live| live.iops)),
            "proofload_target_transactional_io_per_second" => {
                plain(live.and_then(|live| live.target_iops))
            }
            "proofload_clients" => plain(live.map(|live| f64::from(live.clients))),
            "proofload_failing_service_levels" => plain(live.map(|live| live.failing.len() as f64)),
            "proofload_downtime_seconds" => {
                plain(live.map(|live| live.without_service_s.unwrap_or(0.0)))
            }
            "proofload_hung_requests" => plain(live.map(|live| live.hung_requests as f64)),
            _ => None,
        };
        one.into_iter().collect()
    }
}

/// The labels of a value: the name of its row, and the stream.
fn labels(one: &Exported, row: &str) -> String {
    let name = match one.scope {
        RowScope::Total => String::new(),
        scope => pair(label(scope), row),
    };
    match one.metric {
        Metric::Io(stream, _) => format!("{name},{}", pair("stream", stream.tag())),
        _ => name,
    }
}

/// A label with its value, escaped as the text format wants it.
pub(crate) fn pair(label: &str, value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            other => escaped.push(other),
        }
    }
    format!("{label}=\"{escaped}\"")
}

pub(crate) fn head(text: &mut String, name: &str, kind: Kind, help: &str) {
    let help = help.replace('\\', "\\\\").replace('\n', " ");
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {}", kind.word());
}

pub(crate) fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    let _ = match labels {
        "" => writeln!(text, "{name} {value}"),
        labels => writeln!(text, "{name}{{{labels}}} {value}"),
    };
}
