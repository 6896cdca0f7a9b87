//! `proofload init`: the dialogue on the terminal, or by pipe.

use std::fs;
use std::io::{self, BufRead, Write};

use proofload::Error;
use proofload::init::{Dialogue, Finished};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::print::{self, notify, print};
use proofload::new_file::write_new;

/// Asks, writes the profile after the last answer, and prints the command that runs it.
pub fn init() -> Result<ExitStatus, CommandError> {
    notify(
        "An empty answer takes what stands in brackets. Nothing is written before the last answer.",
    );
    let mut dialogue = Dialogue::new();
    let mut input = io::stdin().lock();
    while let Some(question) = dialogue.question() {
        ask(&format!("{} [{}] ", question.text, question.default));
        match dialogue.answer(&line(&mut input)?) {
            Ok(remarks) => remarks
                .iter()
                .for_each(|remark| notify(&format!("  {remark}"))),
            Err(error) => print::error(&CommandError::from(error)),
        }
    }
    let Some(finished) = dialogue.finish()? else {
        return Err(ended());
    };
    write(&finished)?;
    notify(&format!(
        "The profile is in {}. To run it:",
        finished.path.display()
    ));
    print(&format!("{}\n", finished.command))
}

/// Shows a question. Where it cannot be shown, its answer still counts.
fn ask(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn line(input: &mut impl BufRead) -> Result<String, CommandError> {
    let mut line = String::new();
    let read = input.read_line(&mut line);
    match read {
        Ok(0) => {
            notify("");
            Err(ended())
        }
        Ok(_) => Ok(line),
        Err(error) => Err(Error::usage(
            format!("The answer cannot be read: {error}."),
            "Answer in UTF-8.",
        )
        .into()),
    }
}

fn ended() -> CommandError {
    CommandError::usage(
        "The answers ended before the last question; nothing was written.",
        "Answer each question; an empty line takes what stands in brackets.",
    )
}

fn write(finished: &Finished) -> Result<(), CommandError> {
    if !finished.overwrite {
        return Ok(write_new(&finished.path, "--out", &finished.profile)?);
    }
    fs::write(&finished.path, &finished.profile).map_err(|error| {
        CommandError::environment(
            format!("{} cannot be written: {error}.", finished.path.display()),
            "Name another file.",
        )
    })
}
