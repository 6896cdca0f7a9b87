//! Thresholds, and what else decides the verdict.

use execution::Error;

use super::Translation;
use crate::jetstress::draft::{number, quoted};
use crate::jetstress::elements::{Element, GROUP_MARK};
use crate::jetstress::scalar::Scalar;

const THRESHOLDS: &str = "TestDesignInfo/Thresholds";

/// A limit of a set of thresholds: its element, and its settings when strict and when lenient.
const LIMITS: [(&str, &str, Option<&str>); 4] = [
    (
        "AverageDatabaseReadLatency",
        "service_levels.average_database_read",
        None,
    ),
    (
        "MaximumDatabaseReadLatency",
        "service_levels.maximum_database_read_strict",
        Some("service_levels.maximum_database_read_lenient"),
    ),
    (
        "AverageLogWriteLatency",
        "service_levels.average_log_write",
        None,
    ),
    (
        "MaximumLogWriteLatency",
        "service_levels.maximum_log_write_strict",
        Some("service_levels.maximum_log_write_lenient"),
    ),
];

/// Below so many, a limit is one in seconds, as Jetstress 2007 prints them: none is shorter than a millisecond.
const FEWEST_MS: f64 = 1.0;

pub(super) fn translate(translation: &mut Translation) -> Result<(), Error> {
    thresholds(translation)?;
    maximum_violations(translation)?;
    margin(translation)?;
    if let Some((goes_on, element)) = translation
        .elements
        .take_as::<bool>("TestDesignInfo/ContinueOnErrors")?
    {
        let value = if goes_on {
            quoted("never")
        } else {
            "0".to_owned()
        };
        translation.set("run.stop_after_errors", &value, &element);
    }
    Ok(())
}

/// The sets of thresholds. Their elements come in the order of the file, and a mark begins a set.
fn thresholds(translation: &mut Translation) -> Result<(), Error> {
    let mut is_lenient = false;
    let mut averages = [None, None];
    for element in translation.elements.take_all(THRESHOLDS) {
        match element.path.strip_prefix(THRESHOLDS).unwrap_or_default() {
            GROUP_MARK => is_lenient = false,
            "@Name" => is_lenient = set_is_lenient(translation, &element)?,
            "@TestRunTypes" if element.value.eq_ignore_ascii_case("Stress") => {
                let outcome = "the same: lenient limits hold above service_levels.lenient_above";
                translation.notes.keep(element.described(), outcome);
            }
            rest => {
                let name = rest.trim_start_matches('/');
                let limit = LIMITS.iter().position(|limit| limit.0 == name);
                match limit {
                    Some(limit) => {
                        take_limit(translation, &element, limit, is_lenient, &mut averages)?;
                    }
                    None => translation.refuse(&element, "not known"),
                }
            }
        }
    }
    Ok(())
}

fn set_is_lenient(translation: &Translation, element: &Element) -> Result<bool, Error> {
    match element.value.to_ascii_lowercase().as_str() {
        "strict" => Ok(false),
        "lenient" => Ok(true),
        _ => Err(translation.elements.wrong(element, "Strict or Lenient")),
    }
}

fn take_limit(
    translation: &mut Translation,
    element: &Element,
    limit: usize,
    is_lenient: bool,
    averages: &mut [Option<f64>; 2],
) -> Result<(), Error> {
    let (_, strict, lenient) = LIMITS[limit];
    let set = if is_lenient { "Lenient" } else { "Strict" };
    let given =
        f64::parse(&element.value).map_err(|right| translation.elements.wrong(element, &right))?;
    let in_seconds = given < FEWEST_MS;
    let limit_ms = if in_seconds { given * 1e3 } else { given };
    let value = quoted(&format!("{}ms", number(limit_ms)));
    let setting = match (is_lenient, lenient) {
        (true, Some(lenient)) => lenient,
        (true, None) if averages[limit / 2].is_some_and(|strict_ms| strict_ms != limit_ms) => {
            let reason = "averages have one limit, the strict one";
            translation
                .notes
                .refuse(format!("{set} {}", element.described()), reason);
            return Ok(());
        }
        (true, None) => {
            let outcome = format!("{strict} = {value}, as when strict");
            translation
                .notes
                .keep(format!("{set} {}", element.described()), outcome);
            return Ok(());
        }
        (false, _) => strict,
    };
    if !is_lenient && lenient.is_none() {
        averages[limit / 2] = Some(limit_ms);
    }
    let described = format!("{set} {}", element.described());
    let why = if in_seconds {
        format!("{described}, in seconds")
    } else {
        described.clone()
    };
    translation.draft.set(setting, value.clone(), why);
    translation
        .notes
        .keep(described, format!("{setting} = {value}"));
    Ok(())
}

/// Whether samples above a maximum are allowed.
fn maximum_violations(translation: &mut Translation) -> Result<(), Error> {
    let path = "TestDesignInfo/MaximumLatencyErrors";
    let Some((count, element)) = translation.elements.take_as::<u32>(path)? else {
        return Ok(());
    };
    let setting = "service_levels.allowed_maximum_violations";
    if count == 0 {
        translation.set(setting, "0", &element);
        return Ok(());
    }
    let reason = format!(
        "one sample above a maximum fails a test of Jetstress by the word of its authors, whatever this number \
         is; to allow so many give --set {setting}={count}"
    );
    translation.change(setting, "0", &element, &reason);
    Ok(())
}

/// How far the achieved rate may be below its target, in the verdict and in tuning.
fn margin(translation: &mut Translation) -> Result<(), Error> {
    let Some((margin, element)) = translation
        .elements
        .take_as::<f64>("ExchangeProfile/MarginIops")?
    else {
        return Ok(());
    };
    translation.set(
        "service_levels.achieved_margin_fraction",
        &number(margin),
        &element,
    );
    // Tuning needs some margin; a verdict may go without.
    if margin > 0.0 {
        let percent = number(margin * 100.0);
        translation
            .draft
            .set("tuning.rate_margin_percent", percent, element.described());
    }
    Ok(())
}
