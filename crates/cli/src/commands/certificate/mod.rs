//! `proofload certificate`: runs as a document for signature.

mod details;

use std::fs;
use std::path::Path;

use config::Source;
use measure::recompute::Agreement;
use measure::result::{RunKind, RunResult};
use proofload::WORKLOADS;
use report::{Certificate, CertifiedRun, Deviation, load_run};
use serde_json::Value;

use super::verify::{findings, verify_run};
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::CertificateOptions;
use crate::print::{notify, print};

/// The files that are written.
const HTML_FILE: &str = "certificate.html";
const PDF_FILE: &str = "certificate.pdf";

/// Verifies the runs and writes their certificate.
pub fn certificate(options: &CertificateOptions) -> Result<ExitStatus, CommandError> {
    let details = details::read(options)?;
    let runs: Vec<CertifiedRun> = options
        .runs
        .iter()
        .map(|path| certified(path, options.unverified))
        .collect::<Result<_, _>>()?;
    let certificate = Certificate::new(&runs, &details);
    let directory = match &options.out {
        Some(out) => out.clone(),
        None => runs[0].verified.directory.clone(),
    };
    fs::create_dir_all(&directory).map_err(|error| unwritable(&directory, &error))?;
    let (pdf, is_whole) = certificate.pdf();
    let [html_path, pdf_path] = [HTML_FILE, PDF_FILE].map(|file| directory.join(file));
    write(&html_path, certificate.html().as_bytes())?;
    write(&pdf_path, &pdf)?;
    if !is_whole {
        notify(&format!(
            "The fonts of {PDF_FILE} lack some letters, which are ? in it. {HTML_FILE} has them all: \
             print that from a browser."
        ));
    }
    let (html, pdf) = (html_path.display(), pdf_path.display());
    print(&format!("{}: {html}\n{pdf}\n", certificate.title))
}

/// A run that may stand on a certificate.
fn certified(path: &Path, unverified: bool) -> Result<CertifiedRun, CommandError> {
    let verified = verify_run(path)?;
    let shown = path.display();
    if verified.agreement() == Agreement::None && !unverified {
        return Err(CommandError::integrity(
            format!(
                "{shown} was changed after the run:\n{}",
                findings(&verified).trim_end()
            ),
            "Restore the directory, or give --unverified; the document then says so.",
        ));
    }
    let run = load_run(path).map_err(|error| {
        CommandError::integrity(
            format!("{error}."),
            "Restore the directory; nothing can be certified without it.",
        )
    })?;
    if run.result.kind != RunKind::Run {
        return Err(CommandError::usage(
            format!("{shown} is a prediction: no storage was tested."),
            "Name runs on real storage; 'proofload report' makes the report of a prediction.",
        ));
    }
    let deviations = deviations(&run.result);
    Ok(CertifiedRun {
        run,
        verified,
        deviations,
    })
}

/// Settings that are not as the bundled profile of this name has them; `None` when there is none.
fn deviations(result: &RunResult) -> Option<Vec<Deviation>> {
    let bundled = WORKLOADS.bundled(&result.workload.name)?;
    let source = Source::file(bundled.name, bundled.toml);
    let profile = WORKLOADS.read(&[source]).ok()?.settings();
    let text = |value: Option<&Value>| match value {
        None => "not set".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let changed = result.workload.settings.iter();
    let changed = changed.filter(|(setting, value)| !is_same(profile.get(*setting), value));
    Some(
        changed
            .map(|(setting, value)| Deviation {
                setting: setting.clone(),
                of_profile: text(profile.get(setting)),
                of_run: text(Some(value)),
            })
            .collect(),
    )
}

/// Whether a setting has the value of the profile, but for the last digit of a fraction that was written
/// and read back.
fn is_same(of_profile: Option<&Value>, value: &Value) -> bool {
    let numbers = (of_profile.and_then(Value::as_f64), value.as_f64());
    match numbers {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs(),
        _ => of_profile == Some(value),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    fs::write(path, bytes).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::environment(
        format!("{} cannot be written: {error}.", path.display()),
        "Name another directory with --out.",
    )
}
