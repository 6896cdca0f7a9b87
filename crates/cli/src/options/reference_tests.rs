//! Holds `docs/reference/command-line.md` and the options together.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

const HEAD: &str = "# Command line\n\nThis page is written from the options of the program.\n";

/// `--on <DIR>`, or the name of a positional argument.
fn name(arg: &Arg) -> String {
    let value = arg
        .get_value_names()
        .filter(|_| arg.get_action().takes_values())
        .map(|names| names.join(" "));
    match (arg.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => value.unwrap_or_default(),
    }
}

/// The help of an argument on one line, with its values and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    if !text.ends_with(['.', ']']) {
        text.push('.');
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        let _ = write!(text, " Values: {}.", values.join(", "));
    }
    let defaults = arg.get_default_values();
    let is_said = arg.get_action().takes_values() && !arg.is_hide_default_value_set();
    if is_said && !defaults.is_empty() {
        let defaults = defaults.iter().map(|value| value.to_string_lossy());
        let _ = write!(
            text,
            " Default: `{}`.",
            defaults.collect::<Vec<_>>().join(",")
        );
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('|', "\\|").replace('<', "&lt;")
}

fn describe(command: &Command, path: &str, page: &mut String) {
    let path = format!("{path} {}", command.get_name());
    let mut shown = command.clone().bin_name(path.trim());
    let usage = shown.render_usage().to_string();
    let about = command.get_about().map(ToString::to_string);
    let _ = write!(
        page,
        "\n## `{}`\n\n{}\n\n```text\n{}\n```\n",
        path.trim(),
        about.unwrap_or_default(),
        usage.trim_start_matches("Usage: ").trim_end()
    );
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    if !arguments.is_empty() {
        page.push_str("\n| argument | meaning |\n|---|---|\n");
    }
    for arg in arguments {
        let _ = writeln!(
            page,
            "| `{}` | {} |",
            name(arg).replace('|', "\\|"),
            meaning(arg)
        );
    }
    for inner in command.get_subcommands().filter(|c| c.get_name() != "help") {
        describe(inner, path.trim(), page);
    }
}

#[test]
fn the_reference_of_the_command_line_lists_every_option() {
    let command = super::CommandLine::command();
    let mut right = HEAD.to_owned();
    describe(&command, "", &mut right);
    let statuses = super::LONG_EXAMPLES
        .split_once("Exit status:\n")
        .map(|(_, rest)| rest);
    let _ = write!(
        right,
        "\n## Exit status\n\n```text\n{}\n```\n",
        statuses.unwrap_or_default()
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/command-line.md");
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(&path, right).expect("a file that can be written");
        return;
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let help = "run this test once with PROOFLOAD_WRITE_DOCS=1 to bring the page in step";
    assert_eq!(page, right, "{help}");
}
