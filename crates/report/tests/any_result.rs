//! Whatever stands in a result, a report comes out, and no value that is not a number is printed.

use crate::invented::{Story, uniform};
use measure::metric::Metric;
use measure::result::{CheckId, IoFigures, LatencyFigures, RunResult, Verdict};
use measure::sample::SampleRow;
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use report::{Run, Style, csv_summary, html, html_comparison, terminal, terminal_comparison};

const WILD: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    -1.0,
    1e308,
    -1e308,
    1e-308,
    1e17,
    0.000_01,
    1.0,
    19.999,
    1e6,
];

/// Puts strange values everywhere.
struct Spoiler(Xoshiro256PlusPlus);

impl Spoiler {
    fn pick(&mut self, count: usize) -> usize {
        (uniform(&mut self.0) * count as f64) as usize
    }

    fn value(&mut self, value: &mut f64) {
        if self.pick(3) > 0 {
            *value = WILD[self.pick(WILD.len())];
        }
    }

    fn option(&mut self, value: &mut Option<f64>) {
        match self.pick(4) {
            0 => *value = None,
            1 => {}
            _ => *value = Some(WILD[self.pick(WILD.len())]),
        }
    }

    fn latency(&mut self, latency: &mut LatencyFigures) {
        for value in [
            &mut latency.average_ms,
            &mut latency.p50_ms,
            &mut latency.p90_ms,
            &mut latency.p95_ms,
            &mut latency.p99_ms,
            &mut latency.p99_9_ms,
            &mut latency.max_ms,
            &mut latency.max_sample_average_ms,
        ] {
            self.value(value);
        }
    }

    fn requests(&mut self, figures: &mut IoFigures) {
        self.value(&mut figures.per_second);
        self.value(&mut figures.average_bytes);
        if self.pick(4) == 0 {
            figures.latency = None;
        }
        if let Some(latency) = &mut figures.latency {
            self.latency(latency);
        }
    }

    fn row(&mut self, row: &mut SampleRow) {
        let values: Vec<(Metric, f64)> = row.values.iter().collect();
        let mut spoiled = Vec::new();
        for (metric, mut value) in values {
            self.value(&mut value);
            spoiled.push((metric, (self.pick(8) > 0).then_some(value)));
        }
        row.values = spoiled.into_iter().collect();
    }

    fn result(&mut self, result: &mut RunResult) {
        use Verdict::{Error, Fail, Inconclusive, Interrupted, Pass};
        result.verdict = [Pass, Fail, Inconclusive, Interrupted, Error][self.pick(5)];
        self.value(&mut result.duration_s);
        self.value(&mut result.throughput.achieved_iops);
        self.option(&mut result.throughput.target_iops);
        self.option(&mut result.throughput.achieved_fraction);
        for check in &mut result.checks {
            self.value(&mut check.limit);
            self.option(&mut check.value);
            check.passed = [None, Some(true), Some(false)][self.pick(3)];
            check.id = CheckId::ALL[self.pick(CheckId::ALL.len())];
            check.unit = check.id.unit();
        }
        for database in &mut result.databases {
            let figures = &mut database.figures;
            self.requests(&mut figures.reads);
            self.requests(&mut figures.writes);
            self.requests(&mut figures.log_writes);
            self.value(&mut figures.page_fault_stalls_per_second);
        }
        self.requests(&mut result.totals.reads);
        self.requests(&mut result.totals.maintenance_reads);
        for device in &mut result.host.devices {
            self.option(&mut device.average_read_ms);
            self.value(&mut device.busy_fraction);
            self.value(&mut device.read_bytes_per_second);
        }
        for counter in &mut result.host.counters {
            self.value(&mut counter.average);
        }
        if let Some(state) = &mut result.steady_state {
            state.steady = [None, Some(true), Some(false)][self.pick(3)];
            state.rounds.iter_mut().for_each(|round| self.value(round));
            self.value(&mut state.range_fraction);
        }
        for step in result
            .tuning
            .iter_mut()
            .flat_map(|tuning| &mut tuning.steps)
        {
            self.value(&mut step.achieved_iops);
            self.option(&mut step.average_database_read_ms);
        }
    }

    fn run(&mut self) -> Run {
        let samples = self.pick(5) * 7;
        let databases = self.pick(5);
        let story = Story {
            samples,
            databases,
            tuned: self.pick(2) == 0,
            ..Story::default()
        };
        let mut run = story.run();
        self.result(&mut run.result);
        for sample in &mut run.timeline {
            self.value(&mut sample.ends_s);
            sample.rows.iter_mut().for_each(|row| self.row(row));
        }
        for point in run.distributions.iter_mut().flat_map(|one| &mut one.points) {
            self.value(&mut point.1);
        }
        run
    }
}

/// A word that a formatter writes for what is not a number.
fn strange_word(text: &str) -> Option<&str> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric());
    let mut parts = parts.filter(|part| ["NaN", "inf", "infinity", "Infinity"].contains(part));
    parts.next()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_result_gives_a_report(seed in any::<u64>()) {
        let mut spoiler = Spoiler(Xoshiro256PlusPlus::seed_from_u64(seed));
        let runs = [spoiler.run(), spoiler.run()];
        let style = Style::plain();
        let texts = [
            html(&runs[0]),
            terminal(&runs[0], &style),
            html_comparison(&runs),
            terminal_comparison(&runs, &style),
            csv_summary(&runs),
        ];
        for text in &texts {
            let found = strange_word(text);
            prop_assert!(found.is_none(), "{found:?} is printed");
        }
        let headline = report::words::headline(&runs[0]);
        prop_assert!(texts[0].contains(headline.word) && texts[1].contains(headline.word));
    }
}
