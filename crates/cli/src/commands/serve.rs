//! `proofload serve`: a modelled array in real time.

use proofload::serve::{Prepared, ask_for_event};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::{EventOptions, ServeOptions};
use crate::print::notify;

/// Serves the volumes until it is interrupted, and prints what their users have seen.
pub fn serve(options: &ServeOptions) -> Result<ExitStatus, CommandError> {
    let prepared = Prepared::new(&options.scenario()?)?;
    notify(prepared.describe().trim_end());
    let outcome = prepared.run(&stop_on_signals()?, notify)?;
    print_answer(&outcome.to_string(), ExitStatus::Pass)
}

/// Lets something happen to an array that is served.
pub fn event(options: &EventOptions) -> Result<ExitStatus, CommandError> {
    let sentence = ask_for_event(&options.socket, &options.event.join(" "))?;
    print_answer(&format!("{sentence}\n"), ExitStatus::Pass)
}
