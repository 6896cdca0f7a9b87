//! Requests and answers.

use proofload::documents::DocumentKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::comparison::compared;
use crate::described::{described, every_setting};
use crate::design::Design;
use crate::fault::Fault;
use crate::lists::lists;
use crate::prediction::{predicted, run_of_design};
use crate::progress::Report;
use crate::search::{find, swept};

/// What is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Request {
    /// What there is to choose from.
    Lists,
    /// What a design comes to.
    Describe { toml: String },
    /// Every setting of a design.
    Settings { toml: String },
    /// The same design with settings that have other values; an empty one takes a setting back.
    Set {
        toml: String,
        settings: Vec<(String, String)>,
    },
    /// The same with another workload or another array, and then with other settings.
    Choose {
        toml: String,
        workload: Option<String>,
        array: Option<String>,
        settings: Vec<(String, String)>,
    },
    /// The same with these events.
    Events { toml: String, lines: String },
    /// The design that a file is, or that it makes of the present one.
    Open { toml: String, text: String },
    /// A prediction.
    Predict { toml: String, first: bool },
    /// The report of a prediction.
    Report { toml: String },
    /// A search, over these axes if there are any.
    Find {
        toml: String,
        find: String,
        axes: Vec<String>,
    },
    /// A sweep.
    Sweep { toml: String, axes: Vec<String> },
    /// Several designs side by side, each with its name.
    Compare { designs: Vec<(String, String)> },
}

/// Answers a request, both as JSON text: `{"answer": ...}`, or `{"fault": {"message": ..., "help": ...}}`.
#[must_use]
pub fn answer(request: &str, report: &Report) -> String {
    let answered = serde_json::from_str(request)
        .map_err(|error| Fault::new(format!("The request is not understood: {error}."), ""))
        .and_then(|request| dispatch(request, report));
    let answered = match answered {
        Ok(answer) => json!({ "answer": answer }),
        Err(fault) => json!({ "fault": fault }),
    };
    answered.to_string()
}

fn dispatch(request: Request, report: &Report) -> Result<Value, Fault> {
    match request {
        Request::Lists => value(&lists()?),
        Request::Describe { toml } => value(&described(&Design::parse(&toml)?)?),
        Request::Settings { toml } => value(&every_setting(&Design::parse(&toml)?)?),
        Request::Set { toml, settings } => changed(&toml, |design| set_all(design, &settings)),
        Request::Choose {
            toml,
            workload,
            array,
            settings,
        } => changed(&toml, |design| {
            if let Some(workload) = workload {
                design.choose_workload(&workload)?;
            }
            if let Some(array) = array {
                design.choose_array(&array);
            }
            set_all(design, &settings)
        }),
        Request::Events { toml, lines } => changed(&toml, |design| design.set_events(&lines)),
        Request::Open { toml, text } => value(&described(&opened(&toml, &text)?)?),
        Request::Predict { toml, first } => {
            value(&predicted(&Design::parse(&toml)?, first, report)?)
        }
        Request::Report { toml } => {
            let run = run_of_design(&Design::parse(&toml)?, report)?;
            Ok(json!({ "html": report::html(&run) }))
        }
        Request::Find {
            toml,
            find: name,
            axes,
        } => value(&find(&Design::parse(&toml)?, &name, &axes, report)?),
        Request::Sweep { toml, axes } => value(&swept(&Design::parse(&toml)?, &axes, report)?),
        Request::Compare { designs } => {
            let designs = designs
                .iter()
                .map(|(name, toml)| Ok((name.clone(), Design::parse(toml)?)));
            value(&compared(
                &designs.collect::<Result<Vec<_>, Fault>>()?,
                report,
            )?)
        }
    }
}

fn set_all(design: &mut Design, settings: &[(String, String)]) -> Result<(), Fault> {
    let mut settings = settings.iter();
    settings.try_for_each(|(path, value)| design.set(path, value))
}

/// What a design comes to after a change.
fn changed(
    toml: &str,
    change: impl FnOnce(&mut Design) -> Result<(), Fault>,
) -> Result<Value, Fault> {
    let mut design = Design::parse(toml)?;
    change(&mut design)?;
    value(&described(&design)?)
}

/// What a file makes of the present design: a whole design takes its place, a profile its workload, the description of
/// an array its array.
fn opened(toml: &str, text: &str) -> Result<Design, Fault> {
    let opened = Design::parse(text)?;
    let present = Design::parse(toml)?;
    if opened.has_workload() && opened.has_array() {
        return Ok(opened);
    }
    let mut design = present;
    // A profile says its kind, and an array never does.
    let is_array =
        !opened.has_workload() || DocumentKind::Array.bundled(opened.workload()).is_some();
    match is_array {
        true => design.take_array(opened.into_table()),
        false => design.take_workload(&opened),
    }
    Ok(design)
}

fn value(answer: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(answer)
        .map_err(|error| Fault::new(format!("The answer cannot be written: {error}."), ""))
}
