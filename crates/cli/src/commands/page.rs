//! `proofload page`: the predictor as a web page.

use proofload::new_file::{is_file, refused, write_new};
use report::replace_document;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::PageOptions;
use crate::print::print;

/// The page, where it is built in. `scripts/page` makes the file that the variable names.
#[cfg(feature = "page")]
const PAGE: Option<&str> = Some(include_str!(env!(
    "PROOFLOAD_PAGE_FILE",
    "the feature `page` builds in the file that PROOFLOAD_PAGE_FILE names; `make page` makes it"
)));
#[cfg(not(feature = "page"))]
const PAGE: Option<&str> = None;

/// Writes the page.
pub fn page(options: &PageOptions) -> Result<ExitStatus, CommandError> {
    let out = options.out.as_path();
    let Some(page) = PAGE else {
        return Err(CommandError::environment(
            "This proofload was built without the page.",
            "Take proofload.html from the files of a release, or build it with 'make page'.",
        ));
    };
    if options.overwrite {
        replace_document(out, page.as_bytes()).map_err(|error| refused(out, "--out", &error))?;
    } else if is_file(out) {
        return Err(CommandError::usage(
            format!(
                "{} is there already, and is not overwritten.",
                out.display()
            ),
            "Name another file with --out, or allow it with --overwrite.",
        ));
    } else {
        write_new(out, "--out", page)?;
    }
    print(&format!(
        "{}: open it in a browser; it needs no network.\n",
        out.display()
    ))
}
