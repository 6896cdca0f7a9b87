//! Which Jetstress has written a configuration.

use execution::Error;

use super::elements::{Element, Elements};

/// A generation of Jetstress that has XML configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 8.x, for Exchange 2007.
    Jetstress2007,
    /// 14.x, for Exchange 2010.
    Jetstress2010,
    /// 15.x, for Exchange 2013, 2016 and 2019.
    Jetstress2013,
}

impl Version {
    /// The bundled profile of its Exchange.
    pub(super) fn profile(self) -> &'static str {
        match self {
            Self::Jetstress2007 => "exchange-2007",
            Self::Jetstress2010 => "exchange-2010",
            Self::Jetstress2013 => "exchange-2013",
        }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Jetstress2007 => "Jetstress 2007",
            Self::Jetstress2010 => "Jetstress 2010",
            Self::Jetstress2013 => "Jetstress 2013",
        }
    }

    /// Whether a number of threads is meant for each database, and not for all together.
    pub(super) fn counts_threads_per_database(self) -> bool {
        self != Self::Jetstress2013
    }
}

/// The version that a file is of, and how that is known.
pub(super) struct Found {
    pub version: Version,
    pub how: String,
}

/// Takes the elements that say the version. Without them the size of a page decides: 8 KiB are those of 2007.
///
/// # Errors
/// A version of before 2007, or of none that is known.
pub(super) fn take(elements: &mut Elements) -> Result<Found, Error> {
    let engine = elements.take("EseVersionGenerated")?;
    let engine = engine.map_or(String::new(), |one| {
        format!(", ESE {}", super::scalar::shown(&one.value))
    });
    if let Some(element) = elements.take("JetstressVersionGenerated")? {
        let version = of_number(elements, &element)?;
        return Ok(Found {
            version,
            how: format!("{} ({}{engine})", version.name(), element.value),
        });
    }
    let page = elements.peek("JetSystemParams/DatabasePageSize");
    let version = match page {
        Some("8192") => Version::Jetstress2007,
        _ => Version::Jetstress2013,
    };
    Ok(Found {
        version,
        how: format!(
            "taken for {}, as it names no version{engine}",
            version.name()
        ),
    })
}

fn of_number(elements: &Elements, element: &Element) -> Result<Version, Error> {
    let major = element
        .value
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(8) => Ok(Version::Jetstress2007),
        Some(14) => Ok(Version::Jetstress2010),
        Some(15) => Ok(Version::Jetstress2013),
        _ => Err(elements.wrong(
            element,
            "a version of Jetstress that begins with 08, 14 or 15",
        )),
    }
}
