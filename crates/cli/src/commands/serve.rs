//! `proofload serve`: a modelled array in real time.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use monitor::serving::{ServingMonitors, screen};
use monitor::view::Lines;
use proofload::serve::state::ServingState;
use proofload::serve::{Prepared, ask_for_event, ask_for_state};

use super::outcome::no_report;
use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::{EventOptions, ServeOptions};
use crate::print::notify;

/// Serves the volumes until it is interrupted, and prints what their users have seen. With `--status`, prints the
/// state of what another process serves.
pub fn serve(options: &ServeOptions) -> Result<ExitStatus, CommandError> {
    if let Some(socket) = &options.status {
        let state = ask_for_state(socket)?;
        let text = match options.json {
            true => json(&state)?,
            false => screen::text(&state),
        };
        return print_answer(&text, ExitStatus::Pass);
    }
    let wanted = options.wanted();
    wanted.check()?;
    let prepared = Prepared::new(&options.scenario()?)?;
    notify(prepared.describe().trim_end());
    // Where a view has the terminal, lines wait until it is left.
    let lines: Arc<OnceLock<Lines>> = Arc::default();
    let waiting = Arc::clone(&lines);
    let say = move |text: &str| match waiting.get() {
        Some(lines) => {
            let _ = writeln!(lines.clone(), "{text}");
        }
        None => notify(text),
    };
    let outcome = prepared.run(&stop_on_signals()?, say, |source| {
        let monitors = ServingMonitors::open(&wanted, &source)?;
        if let Some(url) = monitors.metrics_url() {
            notify(&format!("Metrics: {url}"));
        }
        if let Some(of_view) = monitors.lines() {
            let _ = lines.set(of_view);
        }
        Ok(monitors)
    })?;
    let mut text = outcome.to_string();
    // What clients have seen is printed whether the results could be written or not.
    let recorded = match outcome.recorded.transpose() {
        Ok(recorded) => recorded,
        Err(error) => {
            print_answer(&text, ExitStatus::Pass)?;
            return Err(error.into());
        }
    };
    if let Some(directory) = recorded.and_then(|recorded| recorded.directory) {
        let page = report::write_report(&directory).map_err(|error| no_report(&error))?;
        text.push_str(&format!("Report: {}\n", page.display()));
    }
    print_answer(&text, ExitStatus::Pass)
}

fn json(state: &ServingState) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(state);
    text.map(|text| text + "\n").map_err(|error| {
        CommandError::environment(format!("The state cannot be written: {error}."), "")
    })
}

/// Lets something happen to an array that is served.
pub fn event(options: &EventOptions) -> Result<ExitStatus, CommandError> {
    let sentence = ask_for_event(&options.socket, &options.event.join(" "))?;
    print_answer(&format!("{sentence}\n"), ExitStatus::Pass)
}
