//! Manual pages: one for each command, as `man` and packages expect them.

use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::{CommandLine, ManualOptions};
use crate::print::print;

/// Prints the page of a command, or writes the pages of all commands into a directory.
pub fn manual(options: &ManualOptions) -> Result<ExitStatus, CommandError> {
    let mut program = CommandLine::command().disable_help_subcommand(true);
    program.build();
    if let Some(directory) = &options.out {
        std::fs::create_dir_all(directory)
            .and_then(|()| write_all(&program, directory))
            .map_err(|error| {
                CommandError::environment(
                    format!(
                        "The manual pages could not be written to {}: {error}.",
                        directory.display()
                    ),
                    "Name a directory that you may write to.",
                )
            })?;
        return Ok(ExitStatus::Pass);
    }
    let mut command = &program;
    // A command of two words may also come as one argument.
    for name in options.of.iter().flat_map(|words| words.split_whitespace()) {
        let inner = command.find_subcommand(name);
        command = inner.ok_or_else(|| {
            CommandError::usage(
                format!("There is no command '{}'.", options.of.join(" ")),
                "'proofload --help' lists the commands.",
            )
        })?;
    }
    let mut page = Vec::new();
    render(command, &mut page).map_err(|error| CommandError::output(&error))?;
    print(&String::from_utf8_lossy(&page))
}

fn write_all(command: &Command, directory: &Path) -> io::Result<()> {
    let mut page = Vec::new();
    render(command, &mut page)?;
    report::replace_document(&directory.join(page_name(command) + ".1"), &page)?;
    let mut inner = command.get_subcommands().filter(|one| !one.is_hide_set());
    inner.try_for_each(|one| write_all(one, directory))
}

/// `proofload-edb-info` of the command `proofload edb info`.
fn page_name(command: &Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name()).to_owned()
}

fn render(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    // Without a date: a page is the same whenever it is made.
    let man = Man::new(command.clone())
        .date("\"\"")
        .source(format!("Proofload {}", env!("CARGO_PKG_VERSION")))
        .manual("Proofload manual");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    if command.get_arguments().any(|one| !one.is_hide_set()) {
        man.render_options_section(out)?;
    }
    let mut roff = Roff::new();
    commands(&mut roff, command);
    let help = command.get_after_long_help().or(command.get_after_help());
    if let Some(help) = help {
        sections(&mut roff, &help.to_string());
    }
    see_also(&mut roff, command);
    roff.to_writer(out)
}

/// The commands below this one, each with the page that describes it.
fn commands(roff: &mut Roff, command: &Command) {
    if !command.has_subcommands() {
        return;
    }
    roff.control("SH", ["COMMANDS"]);
    for inner in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        roff.control("TP", []);
        roff.text([bold(page_name(inner)), roman("(1)")]);
        roff.text([roman(
            inner
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default(),
        )]);
    }
}

/// What stands behind the options: a line such as `Examples:` begins a section, whose lines stay as
/// they are.
fn sections(roff: &mut Roff, help: &str) {
    let mut is_open = false;
    for line in help.lines() {
        let head = line.strip_suffix(':');
        if let Some(head) = head.filter(|_| !line.starts_with(' ')) {
            if is_open {
                roff.control("fi", []);
            }
            roff.control("SH", [head.to_uppercase().as_str()]);
            roff.control("nf", []);
            is_open = true;
        } else if !line.is_empty() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
    }
    if is_open {
        roff.control("fi", []);
    }
}

/// The page above this one, which has the exit statuses.
fn see_also(roff: &mut Roff, command: &Command) {
    let name = page_name(command);
    if let Some((above, _)) = name.rsplit_once('-') {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold(above), roman("(1)")]);
    }
}
