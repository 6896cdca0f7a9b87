//! Events that somebody asks a served array for.

use std::io::ErrorKind;
use std::path::Path;

use ::serve::{Client, ControlSocket, ask};
use array::description::PlannedArray;
use execution::Error;

use super::{ServeScenario, plan};
use crate::predict::watch::clock;

/// Listens for events on a socket, and carries them out at once.
pub fn listen(
    path: &Path,
    scenario: ServeScenario,
    client: Client,
) -> Result<ControlSocket, Error> {
    let socket = ControlSocket::listen(path, move |event| carry_out(&scenario, &client, event));
    let shown = path.display();
    socket.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::environment(
            format!("{shown} is there already."),
            "Name another socket with --control; what a killed server has left may be removed.",
        ),
        _ => Error::environment(
            format!("No socket can be made at {shown}: {error}."),
            "Name a path in a directory that you may write with --control.",
        ),
    })
}

/// Lets an event happen now, such as `disk-fail 3 for 2m`. What has happened, or why nothing has.
fn carry_out(scenario: &ServeScenario, client: &Client, event: &str) -> Result<String, String> {
    let planned = planned_alone(scenario, event);
    let planned = planned.map_err(|error| error.to_string())?;
    let faults = planned.events.iter();
    let faults = faults.map(|event| (event.at_ns, event.fault)).collect();
    let ended = || "The array has ended.".to_owned();
    let now_ns = client.inject(faults).ok_or_else(ended)?;
    let sentences = planned.events.iter().map(|event| {
        let at = clock((now_ns + event.at_ns) as f64 / 1e9);
        format!("at {at} {}", event.text)
    });
    let sentence = sentences.collect::<Vec<_>>().join(", ");
    Ok(format!("A{}.", &sentence[1..]))
}

/// The array with nothing but an event that happens at its start.
fn planned_alone(scenario: &ServeScenario, event: &str) -> Result<PlannedArray, Error> {
    let mut array = scenario.array.clone();
    array.events.clear();
    let array = array.with_event(&format!("0s {event}"))?;
    let (_, planned, _) = plan(&ServeScenario {
        array,
        ..scenario.clone()
    })?;
    Ok(planned)
}

/// Asks the array that listens at `socket` for an event, and gives its answer.
///
/// # Errors
/// Nobody listens there, or the event cannot happen.
pub fn ask_for_event(socket: &Path, event: &str) -> Result<String, Error> {
    let answer = ask(socket, event).map_err(|error| {
        Error::environment(
            format!("No array answers at {}: {error}.", socket.display()),
            "Name the socket that 'proofload serve --control' was given.",
        )
    })?;
    answer.map_err(|refusal| Error::usage(refusal, ""))
}
