//! `proofload certificate`: runs as a document for signature.

use std::path::Path;

use report::{
    CERTIFICATE_HTML, CERTIFICATE_PDF, Certificate, CertifiedRun, Details, NotCertified,
    check_certificate_place,
};

use super::outcome::not_a_run;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::CertificateOptions;
use crate::print::{notify, print};
use proofload::Files;

/// Verifies the runs and writes their certificate.
pub fn certificate(options: &CertificateOptions) -> Result<ExitStatus, CommandError> {
    let details = details(options)?;
    let runs: Vec<CertifiedRun> = options
        .runs
        .iter()
        .map(|path| CertifiedRun::load(path, options.unverified))
        .collect::<Result<_, _>>()
        .map_err(refusal)?;
    let of_runs = runs.iter().map(|run| run.verified.directory.clone());
    let of_runs: Vec<_> = of_runs.collect();
    // At least one run is named.
    let directory = options.out.as_ref().unwrap_or(&of_runs[0]);
    check_certificate_place(directory, &of_runs, options.overwrite)?;
    let certificate = Certificate::new(&runs, &details);
    let (files, is_whole) = certificate
        .write(directory)
        .map_err(|error| unwritable(directory, &error))?;
    if !is_whole {
        notify(&format!(
            "The fonts of {CERTIFICATE_PDF} lack some letters, which are ? in it. {CERTIFICATE_HTML} \
             has them all: print that from a browser."
        ));
    }
    let [html, pdf] = files.map(|path| path.display().to_string());
    print(&format!("{}: {html}\n{pdf}\n", certificate.title))
}

/// A run that cannot stand on a certificate.
fn refusal(error: NotCertified) -> CommandError {
    let message = error.to_string();
    match error {
        NotCertified::NoRun(error) => not_a_run(&error),
        NotCertified::Changed(_) => CommandError::integrity(
            message,
            "Restore the directory, or give --unverified; the document then says so.",
        ),
        NotCertified::Unreadable(_) => CommandError::integrity(
            message,
            "Restore the directory; nothing can be certified without it.",
        ),
        NotCertified::Prediction(_) => CommandError::usage(
            message,
            "Name runs on real storage; 'proofload report' makes the report of a prediction.",
        ),
    }
}

/// The details in the file that the options name, and in the options themselves.
fn details(options: &CertificateOptions) -> Result<Details, CommandError> {
    let file = match &options.details {
        None => Details::default(),
        Some(path) => {
            let name = path.display().to_string();
            let text = Files::default().read_text(path).map_err(|error| {
                CommandError::usage(
                    format!("{name} cannot be read: {error}."),
                    "Give the path of a TOML file with --details.",
                )
            })?;
            Details::of_toml(&name, &text)?
        }
    };
    let or = |option: &Option<String>, of_file: String| option.clone().unwrap_or(of_file);
    Ok(Details {
        customer: or(&options.customer, file.customer),
        tester: or(&options.tester, file.tester),
        array: or(&options.array, file.array),
        serial: or(&options.serial, file.serial),
        firmware: or(&options.firmware, file.firmware),
        note: or(&options.note, file.note),
        ..file
    })
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::environment(
        format!("{} cannot be written: {error}.", path.display()),
        "Name another directory with --out.",
    )
}
