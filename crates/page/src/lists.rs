//! What there is to choose from.

use array::disk::BUNDLED_DISKS;
use proofload::documents::DocumentKind;
use serde::Serialize;

use crate::design::Design;
use crate::fault::Fault;

/// What the page begins with.
const WORKLOAD: &str = "exchange-2013";
const ARRAY: &str = "msa2050";
const DURATION: &str = "2m";

/// A name, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The name, as settings have it.
    pub name: String,
    /// What it stands for.
    pub title: String,
}

/// Everything that a page asks for once.
#[derive(Clone, Debug, Serialize)]
pub struct Lists {
    /// Version of the program.
    pub version: &'static str,
    /// Bundled workloads.
    pub workloads: Vec<Named>,
    /// Bundled arrays.
    pub arrays: Vec<Named>,
    /// The design that a page begins with.
    pub design: String,
}

/// The lists.
///
/// # Errors
/// A bundled document that cannot be read, which a test excludes.
pub fn lists() -> Result<Lists, Fault> {
    Ok(Lists {
        version: env!("CARGO_PKG_VERSION"),
        workloads: named(DocumentKind::Profile)?,
        arrays: named(DocumentKind::Array)?,
        design: first_design()?.text(),
    })
}

/// The design that a page begins with. Two hours, as in the profile, would take too long.
fn first_design() -> Result<Design, Fault> {
    let mut design = Design::new(WORKLOAD, ARRAY)?;
    design.set("run.duration", DURATION)?;
    Ok(design)
}

fn named(kind: DocumentKind) -> Result<Vec<Named>, Fault> {
    let titles = kind.titles()?.into_iter();
    let named = titles.map(|(name, title)| Named {
        name: name.to_owned(),
        title,
    });
    Ok(named.collect())
}

/// Bundled disks: all of them, or the solid-state ones alone.
#[must_use]
pub fn disks(solid_state_only: bool) -> Vec<Named> {
    let disks = BUNDLED_DISKS.iter().filter_map(|disk| {
        let description = disk.description().ok()?;
        let fits = !solid_state_only || description.solid_state.is_some();
        fits.then(|| Named {
            name: disk.name.to_owned(),
            title: description.title,
        })
    });
    disks.collect()
}
