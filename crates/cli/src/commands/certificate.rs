//! `proofload certificate`: runs as a document for signature.

use std::fs;
use std::path::Path;

use measure::run_directory::RESULT_FILE;
use proofload::new_file::check_new;
use report::{Certificate, CertifiedRun, Details, NotCertified, replace_document};

use super::outcome::not_a_run;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::CertificateOptions;
use crate::print::{notify, print};

/// The files that are written.
const HTML_FILE: &str = "certificate.html";
const PDF_FILE: &str = "certificate.pdf";

/// Verifies the runs and writes their certificate.
pub fn certificate(options: &CertificateOptions) -> Result<ExitStatus, CommandError> {
    let details = details(options)?;
    if let Some(out) = &options.out {
        check_out(out, options)?;
    }
    let runs: Vec<CertifiedRun> = options
        .runs
        .iter()
        .map(|path| CertifiedRun::load(path, options.unverified))
        .collect::<Result<_, _>>()
        .map_err(refusal)?;
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

/// Refuses the directory of a run that is not among those of the certificate, and one that has a certificate
/// already.
fn check_out(out: &Path, options: &CertificateOptions) -> Result<(), CommandError> {
    let place = |path: &Path| fs::canonicalize(path).ok();
    let mut runs = options.runs.iter();
    if out.join(RESULT_FILE).exists() && !runs.any(|run| place(run) == place(out)) {
        return Err(CommandError::usage(
            format!("{} is the directory of another run.", out.display()),
            "Name another directory with --out.",
        ));
    }
    if options.overwrite {
        return Ok(());
    }
    let [html, pdf] = [HTML_FILE, PDF_FILE].map(|file| check_new(&out.join(file), "--out"));
    html.and(pdf).map_err(|_| {
        CommandError::usage(
            format!(
                "{} has a certificate already, which is not overwritten.",
                out.display()
            ),
            "Name another directory with --out, or allow it with --overwrite.",
        )
    })
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
            let text = fs::read_to_string(path).map_err(|error| {
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

fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    replace_document(path, bytes).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::environment(
        format!("{} cannot be written: {error}.", path.display()),
        "Name another directory with --out.",
    )
}
