//! A run as the report sees it: the result, its samples, its latency distributions.

mod load;

use std::path::Path;

pub use load::{Distributions, load_distributions, percentiles, timeline};

use measure::display::Contribution;
use measure::metric::{IoMetric, Metric};
use measure::metric::{RowScope, Stream};
use measure::result::RunResult;
use measure::run_directory::{LoadError, is_result_changed};
use measure::sample::{Phase, SampleRow};

/// A run as reports need it: its result, samples and distributions.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What the run is called in a comparison, such as the name of its directory.
    pub name: String,
    /// The result document, `result.json`.
    pub result: RunResult,
    /// What its workload adds to the report.
    pub contribution: Contribution,
    /// The samples, in order of time; empty when they are missing.
    pub timeline: Vec<Sample>,
    /// Latency distributions of the measured phase; empty when they are missing.
    pub distributions: Vec<Distribution>,
}

/// One sample: its rows of `samples.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// End of the sample, in seconds since the start of the run.
    pub ends_s: f64,
    /// Length of the sample in seconds.
    pub length_s: f64,
    /// The phase it belongs to.
    pub phase: Phase,
    /// All databases together, each database, the devices, the parts of a modelled array.
    pub rows: Vec<SampleRow>,
}

impl Sample {
    /// A metric of the whole sample, `NaN` when it was not measured.
    #[must_use]
    pub fn get(&self, metric: Metric) -> f64 {
        let total = self.of(RowScope::Total).next();
        total.and_then(|row| row.get(metric)).unwrap_or(f64::NAN)
    }

    /// A metric of a stream, all databases together; `NaN` when it was not measured.
    #[must_use]
    pub fn io(&self, stream: Stream, metric: IoMetric) -> f64 {
        let total = self.of(RowScope::Total).next();
        total
            .and_then(|row| row.io(stream, metric))
            .unwrap_or(f64::NAN)
    }

    /// The rows of this scope.
    pub fn of(&self, scope: RowScope) -> impl Iterator<Item = &SampleRow> {
        self.rows.iter().filter(move |row| row.scope == scope)
    }

    /// The row of this scope and name.
    #[must_use]
    pub fn row(&self, scope: RowScope, name: &str) -> Option<&SampleRow> {
        self.of(scope).find(|row| row.name == name)
    }
}

/// The distribution of the latency of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Stream that the requests belong to.
    pub stream: Stream,
    /// Percentile and latency in milliseconds, both ascending.
    pub points: Vec<(f64, f64)>,
}

impl Run {
    /// A run from its parts. Without distributions the few percentiles of the result are used.
    #[must_use]
    pub fn new(
        name: &str,
        result: RunResult,
        rows: Vec<SampleRow>,
        distributions: Vec<Distribution>,
    ) -> Self {
        let mut run = Self::from_result(name, result);
        if !distributions.is_empty() {
            run.distributions = distributions;
        }
        run.timeline = timeline(rows);
        run
    }

    /// A run from its directory, or from the path of the `result.json` in it. The run is called by
    /// the name of the directory; `contribution` gives what its workload adds to the report.
    ///
    /// # Errors
    /// When there is no result, or a file is damaged or of another version.
    pub fn load(
        path: &Path,
        contribution: impl FnOnce(&RunResult) -> Contribution,
    ) -> Result<Self, LoadError> {
        let (mut result, rows) = measure::run_directory::load(path)?;
        if is_result_changed(path)? {
            let warning = "The result document was changed after the run, so that neither its verdict nor its \
                           figures can be relied on: 'proofload verify' recomputes them.";
            result.warnings.insert(0, warning.to_owned());
        }
        let distributions = load_distributions(path)?;
        let directory = if path.is_file() {
            path.parent().unwrap_or(path)
        } else {
            path
        };
        let whole = directory
            .canonicalize()
            .unwrap_or_else(|_| directory.to_path_buf());
        let name = whole
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let contribution = contribution(&result);
        Ok(Self {
            contribution,
            ..Self::new(&name, result, rows, distributions)
        })
    }

    /// A run of which only the result is known. The distributions are then the few percentiles
    /// that the result holds.
    #[must_use]
    pub fn from_result(name: &str, result: RunResult) -> Self {
        const SHOWN: [Stream; 3] = [
            Stream::DatabaseRead,
            Stream::DatabaseWrite,
            Stream::LogWrite,
        ];
        const PERCENTILES: [(f64, IoMetric); 5] = [
            (50.0, IoMetric::P50),
            (90.0, IoMetric::P90),
            (95.0, IoMetric::P95),
            (99.0, IoMetric::P99),
            (99.9, IoMetric::P99_9),
        ];
        let distribution = |stream: Stream| {
            let figures = result.totals.stream(stream);
            let known = PERCENTILES.into_iter();
            let points: Vec<(f64, f64)> = known
                .filter_map(|(percentile, metric)| Some((percentile, figures.get(metric)?)))
                .collect();
            (!points.is_empty()).then_some(Distribution { stream, points })
        };
        let distributions = SHOWN.into_iter().filter_map(distribution).collect();
        Self {
            name: name.to_string(),
            result,
            contribution: Contribution::default(),
            timeline: Vec::new(),
            distributions,
        }
    }
}
