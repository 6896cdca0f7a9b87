//! Recomputes what a run found from the samples that it left, and compares: `proofload verify`.
//!
//! Three things are compared, so that a change of any of them is found:
//!
//! - the SHA-256 of each file and of `result.json` with those that the run recorded at its end;
//! - each row of `samples.csv` of the measured phase with the histograms of `histograms.hlog`, and of a
//!   second series likewise, which counts the same;
//! - the figures, checks and verdict of `result.json` with those that follow from the samples, and the
//!   headline with what follows from these. They are added up, judged and composed by the functions that
//!   did so in the run: [`RunTotals::fill`], [`evaluate`], [`judge`], [`compose`].
//!
//! Hashes find what was changed, not who changed it: whoever computes them anew leaves no trace. So
//! the hash of the document is printed on the certificate that people sign.
//!
//! [`compose`]: crate::headline::compose
//! [`RunTotals::fill`]: crate::sample::RunTotals::fill
//! [`evaluate`]: crate::service_level::evaluate
//! [`judge`]: crate::service_level::judge

mod compare;
mod interrupted;
mod judged;
mod ranks;
mod samples;
mod second;

pub use interrupted::{InterruptedRun, ResumeError};
pub use ranks::load_part;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::result::{FileHash, RunResult, Verdict, WholeBytes};
use crate::run_directory::{
    CONFIG_FILE, FIRST_SERIES, LoadError, MOST_BYTES, RESULT_FILE, SECOND_SERIES, SeriesFiles,
    document_hash, hash_file, load_samples, parse_result, read_file, read_result, run_directory_of,
    whole_samples,
};
use crate::sample::SampleRow;
use crate::service_level::ServiceLevels;
use crate::steady::SteadyRule;

/// Differences that are listed at most.
const MOST_LISTED: usize = 40;

/// What a run was judged by, as its settings say it, and what its workload adds.
#[derive(Debug, Clone)]
pub struct Criteria {
    /// The limits that the run is judged by.
    pub levels: ServiceLevels,
    /// Length of the measured phase that was asked for.
    pub planned_s: f64,
    /// When a request counts as hung.
    pub hung_after_s: f64,
    /// The rule of the steady state.
    pub steady: SteadyRule,
    /// What the workload calls its load, for the headline.
    pub load: Option<String>,
    /// All settings by dotted path.
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// Something that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The file of the run directory.
    pub file: String,
    /// Path of the field, or name of the file's part, that differs.
    pub field: String,
    /// What stands there, or what the run recorded of it.
    pub recorded: String,
    /// What follows from the samples or the bytes of the file.
    pub recomputed: String,
}

/// Differences in the order in which they were found; of very many the first.
#[derive(Debug, Clone, Default)]
pub struct Differences {
    /// Those that are kept.
    pub listed: Vec<Difference>,
    /// How many there were.
    pub count: u64,
}

impl Differences {
    fn add(&mut self, difference: Difference) {
        self.count += 1;
        if self.listed.len() < MOST_LISTED {
            self.listed.push(difference);
        }
    }

    fn of(&mut self, file: &str, field: &str, recorded: impl Into<String>, found: String) {
        self.add(Difference {
            file: file.to_owned(),
            field: field.to_owned(),
            recorded: recorded.into(),
            recomputed: found,
        });
    }
}

/// What became of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Everything was compared, and everything agrees.
    Whole,
    /// What could be compared agrees, but something could not.
    Partial,
    /// At least one file, figure or the verdict differs.
    None,
}

/// What was compared, and what came of it.
#[derive(Debug, Clone, Default)]
pub struct Verified {
    /// The run directory that was verified.
    pub directory: PathBuf,
    /// The result as it stands there; `None` when it cannot be read.
    pub result: Option<RunResult>,
    /// SHA-256 of the result document, as its bytes give it; empty when it has none recorded.
    pub document_sha256: String,
    /// Files whose hashes agree.
    pub files: u64,
    /// Figures of the result that were recomputed, checks and verdict not counted.
    pub figures: u64,
    /// Checks that were judged again.
    pub checks: u64,
    /// Samples of the measured phase that were added up.
    pub samples: u64,
    /// The verdict that follows from the samples; `None` when none was reached.
    pub verdict: Option<Verdict>,
    /// Everything that differs, the first cases in full.
    pub differences: Differences,
    /// What could not be compared and why, in sentences.
    pub not_verified: Vec<String>,
}

impl Verified {
    /// Whether everything agrees, as far as it could be compared.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        match (self.differences.count, self.not_verified.len()) {
            (0, 0) => Agreement::Whole,
            (0, _) => Agreement::Partial,
            _ => Agreement::None,
        }
    }

    /// A file that has only so many bytes left of what was `expected`.
    fn cut_off(&mut self, file: &str, expected: &str, bytes: u64) {
        let found = format!("{bytes} bytes: it is cut off");
        self.differences.of(file, "length", expected, found);
    }

    fn cannot(&mut self, what: impl Into<String>) {
        self.not_verified.push(what.into());
    }
}

/// Reads what a run was judged by from its result and the text of its `config.toml`.
pub type TermsOf<'a> = &'a dyn Fn(&RunResult, &str) -> Result<Option<Criteria>, String>;

/// Verifies a run directory. `terms` reads what the run was judged by from its result and the text of
/// its `config.toml`; `Ok(None)` when its kind is not judged by service levels.
///
/// # Errors
/// When the directory is none of a run, or of a version that this one does not read.
pub fn verify(directory: &Path, terms: TermsOf<'_>) -> Result<Verified, LoadError> {
    verify_one(directory, terms, false)
}

/// The same of a run by itself, or of a rank of one, which has no ranks itself.
fn verify_one(directory: &Path, terms: TermsOf<'_>, is_rank: bool) -> Result<Verified, LoadError> {
    let directory = run_directory_of(directory);
    let text = read_result(directory)?;
    let mut verified = Verified {
        directory: directory.to_owned(),
        ..Verified::default()
    };
    let hash = document_hash(&text);
    if let Some(hash) = &hash {
        verified.document_sha256.clone_from(&hash.recomputed);
        if hash.recorded != hash.recomputed {
            let found = hash.recomputed.clone();
            let (file, field) = (RESULT_FILE, "document_sha256");
            verified.differences.of(file, field, &hash.recorded, found);
        }
    }
    let result = match parse_result(&directory.join(RESULT_FILE), &text) {
        Ok(result) => result,
        Err(LoadError::CutOff { bytes, .. }) => {
            verified.cut_off(RESULT_FILE, "a whole result", bytes as u64);
            return Ok(verified);
        }
        // Without a hash that says it was another document, it is one that this version cannot read.
        Err(error) if verified.differences.count == 0 => return Err(error),
        Err(error) => {
            let (file, field) = (RESULT_FILE, "the document");
            let found = error.to_string();
            verified
                .differences
                .of(file, field, "a result document", found);
            return Ok(verified);
        }
    };
    match (&hash, result.complete) {
        (Some(_), _) => {}
        (None, true) => verified.cannot(
            "result.json has no hashes, which a run records at its end: they were removed, or an earlier \
             version wrote it. A change that leaves figures and samples in agreement is not found.",
        ),
        (None, false) => verified.cannot(
            "The run did not end, so there are no hashes of its files: a change that leaves figures \
             and samples in agreement is not found.",
        ),
    }
    let is_cut_off = compare_files(&result, &mut verified);
    if is_cut_off {
        verified.cannot("Raw figures of the run are cut off, so no figure was recomputed.");
    } else if result.ranks.is_empty() {
        compare_figures(&result, terms, &mut verified);
    } else if is_rank {
        let found = format!("{} ranks", result.ranks.len());
        let differences = &mut verified.differences;
        differences.of(RESULT_FILE, "ranks", "none in the result of a rank", found);
    } else {
        ranks::compare_ranks(&result, terms, &mut verified);
    }
    verified.result = Some(result);
    Ok(verified)
}

/// Compares the files with their hashes. Whether one from which figures are recomputed is cut off.
fn compare_files(result: &RunResult, verified: &mut Verified) -> bool {
    let directory = verified.directory.clone();
    verified.files = result.files.len() as u64;
    let mut is_cut_off = false;
    for (recorded, found) in changed_files(&directory, result) {
        verified.files -= 1;
        let (file, bytes) = (recorded.file.as_str(), recorded.size_bytes);
        match std::fs::metadata(directory.join(file)) {
            Ok(facts) if facts.is_file() && facts.len() < bytes => {
                verified.cut_off(file, &format!("{bytes} bytes"), facts.len());
                is_cut_off |= [FIRST_SERIES, SECOND_SERIES]
                    .iter()
                    .any(|series| [series.samples, series.histograms].contains(&file));
            }
            _ => {
                let differences = &mut verified.differences;
                differences.of(file, "SHA-256", recorded.sha256.as_str(), found);
            }
        }
    }
    if result.document_sha256.is_empty() {
        return false; // Nothing was hashed.
    }
    for file in [CONFIG_FILE, FIRST_SERIES.samples, FIRST_SERIES.histograms] {
        let is_recorded = result.files.iter().any(|recorded| recorded.file == file);
        if !is_recorded && directory.join(file).exists() {
            verified
                .differences
                .of(file, "SHA-256", "none recorded", "a file".to_owned());
        }
    }
    is_cut_off
}

/// The files that are not as recorded, each with its hash or why it has none.
fn changed_files<'a>(
    directory: &'a Path,
    result: &'a RunResult,
) -> impl Iterator<Item = (&'a FileHash, String)> {
    result.files.iter().filter_map(|recorded| {
        let most_bytes = recorded.size_bytes.max(MOST_BYTES);
        let found = hash_file(directory, recorded.file.clone(), most_bytes);
        let found = found.map_or_else(|error| error.to_string(), |found| found.sha256);
        (found != recorded.sha256).then_some((recorded, found))
    })
}

/// The samples of a series, and what they are read from.
struct RawSamples {
    rows: Vec<SampleRow>,
    histograms: Vec<u8>,
    /// Whether they are all that the result follows from.
    is_complete: bool,
}

/// The whole samples of a series: of a run that has not ended as far as its result `reach`es. `None` when
/// there are none, which has been noted: so `consequence`.
fn raw_samples(
    files: SeriesFiles,
    reach: Option<WholeBytes>,
    consequence: &str,
    verified: &mut Verified,
) -> Option<RawSamples> {
    let path = verified.directory.join(files.samples);
    let mut histograms = match read_file(&verified.directory.join(files.histograms)) {
        Ok(histograms) => histograms,
        Err(error) => {
            verified.cannot(format!(
                "{} cannot be read ({error}), so {consequence}.",
                files.histograms
            ));
            return None;
        }
    };
    let whole = reach.map(|reach| {
        let samples = read_file(&path).unwrap_or_default();
        whole_samples(&samples, &histograms, reach, f64::INFINITY)
    });
    let is_complete = whole == reach;
    if let Some(whole) = whole {
        histograms.truncate(usize::try_from(whole.histograms).unwrap_or(usize::MAX));
    }
    let rows = match load_samples(&path, whole.map_or(u64::MAX, |whole| whole.samples)) {
        Ok(rows) => rows,
        // Not even the names of the columns are left.
        Err(_) if !is_complete => Vec::new(),
        Err(error) => {
            let (field, found) = ("the file", error.to_string());
            let differences = &mut verified.differences;
            differences.of(files.samples, field, "rows of samples", found);
            return None;
        }
    };
    if !is_complete {
        verified.cannot(format!(
            "Samples that the result follows from are missing, as after a power cut, so {consequence}."
        ));
    } else if rows.is_empty() {
        verified.cannot(format!("There are no samples, so {consequence}."));
    }
    (!rows.is_empty()).then_some(RawSamples {
        rows,
        histograms,
        is_complete,
    })
}

/// Adds up a series, and notes what does not follow from its histograms; `None` when these cannot be read.
fn recounted(
    files: SeriesFiles,
    raw: &RawSamples,
    interval_s: f64,
    differences: &mut Differences,
) -> Option<samples::SampleTotals> {
    let (rows, histograms) = (&raw.rows, &raw.histograms);
    let recount = samples::recount(files, rows, histograms, interval_s, differences);
    recount
        .map_err(|error| {
            let (field, found) = ("the file", error.to_string());
            differences.of(files.histograms, field, "histograms", found);
        })
        .ok()
}

fn compare_figures(result: &RunResult, terms: TermsOf<'_>, verified: &mut Verified) {
    let reach = result.samples.files_reach.filter(|_| !result.complete);
    let consequence = "no figure was recomputed";
    let Some(raw) = raw_samples(FIRST_SERIES, reach, consequence, verified) else {
        return;
    };
    let interval_s = result.samples.interval_s;
    if interval_s <= 0.0 {
        verified.cannot("Nothing was measured, so no figure was recomputed.");
        return;
    }
    let differences = &mut verified.differences;
    let Some(recount) = recounted(FIRST_SERIES, &raw, interval_s, differences) else {
        return;
    };
    if !raw.is_complete {
        return;
    }
    drop(raw);
    second::compare_second(result, &recount.totals, verified);
    verified.samples = recount.totals.full_samples() as u64;
    let config =
        read_file(&verified.directory.join(CONFIG_FILE)).map_err(|error| error.to_string());
    let config = config.and_then(|text| String::from_utf8(text).map_err(|error| error.to_string()));
    let terms = match config.and_then(|text| terms(result, &text)) {
        Ok(Some(terms)) => Some(terms),
        Ok(None) => None,
        Err(error) => {
            let (field, expected) = ("the file", "settings of a workload");
            verified.differences.of(CONFIG_FILE, field, expected, error);
            None
        }
    };
    let judged = judged::recomputed(result, &recount, terms.as_ref());
    let is_judged = terms.is_some() && judged.unexplained.is_none();
    verified.verdict = is_judged.then_some(judged.result.verdict);
    verified.not_verified.extend(judged.unexplained);
    verified.checks = judged.result.checks.len() as u64;
    compare::compare(result, &judged.result, verified);
}
