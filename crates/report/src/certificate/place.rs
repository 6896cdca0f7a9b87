//! Where a certificate goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use measure::run_directory::RESULT_FILE;
use proofload::Error;
use proofload::new_file::check_new;

use super::Certificate;
use crate::files::replace_document;

/// Name of the page.
pub const CERTIFICATE_HTML: &str = "certificate.html";
/// Name of the file for printing.
pub const CERTIFICATE_PDF: &str = "certificate.pdf";

/// Checks a directory for the certificate of these runs before it is made.
///
/// # Errors
/// It is the directory of another run, or has a certificate already that must not be overwritten.
pub fn check_certificate_place(out: &Path, runs: &[PathBuf], overwrite: bool) -> Result<(), Error> {
    let place = |path: &Path| fs::canonicalize(path).ok();
    let is_of_other_run =
        out.join(RESULT_FILE).exists() && !runs.iter().any(|run| place(run) == place(out));
    if is_of_other_run {
        return Err(Error::usage(
            format!("{} is the directory of another run.", out.display()),
            "Name another directory with --out.",
        ));
    }
    if overwrite {
        return Ok(());
    }
    let files = [CERTIFICATE_HTML, CERTIFICATE_PDF];
    let [html, pdf] = files.map(|file| check_new(&out.join(file), "--out"));
    html.and(pdf).map_err(|_| {
        Error::usage(
            format!(
                "{} has a certificate already, which is not overwritten.",
                out.display()
            ),
            "Name another directory with --out, or allow it with --overwrite.",
        )
    })
}

impl Certificate {
    /// Writes the page and the file for printing into a directory, which is made if it is not there; gives their
    /// paths, and whether all letters could be written into the latter.
    ///
    /// # Errors
    /// The directory cannot be made, or a file cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<([PathBuf; 2], bool)> {
        fs::create_dir_all(directory)?;
        let (pdf, is_whole) = self.pdf();
        let paths = [CERTIFICATE_HTML, CERTIFICATE_PDF].map(|file| directory.join(file));
        replace_document(&paths[0], self.html().as_bytes())?;
        replace_document(&paths[1], &pdf)?;
        Ok((paths, is_whole))
    }
}
