//! What somebody asks a served array for: events, and its state.

use std::path::Path;

use ::serve::{Client, ControlSocket, SocketError, ask};
use array::description::PlannedArray;
use execution::Error;
use measure::units;

use super::following::{Following, StateSource};
use super::state::{SCHEMA, ServingState};
use super::{ServeScenario, plan};
use crate::predict::watch::clock;

/// What asks for the state in place of an event.
const STATE: &str = "state";

/// Listens on a socket for events, which are carried out at once, and for questions about the state.
pub fn listen(
    path: &Path,
    scenario: ServeScenario,
    client: Client,
    following: &Following,
    source: StateSource,
) -> Result<ControlSocket, Error> {
    let following = following.clone();
    let socket = ControlSocket::listen(path, move |line| match line {
        STATE => {
            let state = source.state().ok_or_else(ended)?;
            serde_json::to_string(&state).map_err(|error| units::sentence(&error))
        }
        event => carry_out(&scenario, &client, &following, event),
    });
    socket.map_err(|error| match error {
        SocketError::InUse(path) => Error::environment(
            format!("Another program listens at {}.", path.display()),
            "End it, or name another socket with --control.",
        ),
        SocketError::NoSocket(path) => Error::usage(
            format!("{} is there already, and is no socket.", path.display()),
            "Name another path with --control.",
        ),
        SocketError::System(path, error) => Error::environment(
            format!("No socket can be made at {}: {error}.", path.display()),
            "Name a path in a directory that you may write with --control.",
        ),
    })
}

fn ended() -> String {
    "The array has ended.".to_owned()
}

/// Lets an event happen now, such as `disk-fail 3 for 2m`. What has happened, or why nothing has.
fn carry_out(
    scenario: &ServeScenario,
    client: &Client,
    following: &Following,
    event: &str,
) -> Result<String, String> {
    let planned = planned_alone(scenario, event);
    let planned = planned.map_err(|error| error.to_string())?;
    let faults = planned.events.iter();
    let faults = faults.map(|event| (event.at_ns, event.fault)).collect();
    let now_ns = client.inject(faults).ok_or_else(ended)?;
    let later = planned.events.iter().filter(|event| event.at_ns > 0);
    later.for_each(|event| following.expect(now_ns + event.at_ns, event.fault, &event.text));
    let sentences = planned.events.iter().map(|event| {
        let at = clock(following.since_start_s(now_ns + event.at_ns));
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
    answer(socket, event)?.map_err(|refusal| Error::usage(refusal, ""))
}

/// Asks the array that listens at `socket` for its state.
///
/// # Errors
/// Nobody listens there, or the answer is no state that this version knows.
pub fn ask_for_state(socket: &Path) -> Result<ServingState, Error> {
    let shown = socket.display();
    let text = answer(socket, STATE)?.map_err(|refusal| Error::environment(refusal, ""))?;
    let state = serde_json::from_str::<ServingState>(&text).ok();
    state.filter(|state| state.schema == SCHEMA).ok_or_else(|| {
        Error::environment(
            format!("What is served at {shown} is of another version of proofload."),
            "Ask with the version that serves.",
        )
    })
}

fn answer(socket: &Path, line: &str) -> Result<Result<String, String>, Error> {
    ask(socket, line).map_err(|error| {
        Error::environment(
            format!("No array answers at {}: {error}.", socket.display()),
            "Name the socket that 'proofload serve --control' was given.",
        )
    })
}
