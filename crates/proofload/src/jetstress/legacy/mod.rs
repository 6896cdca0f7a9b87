//! The command line of `Jetstress.exe` 2003/2004, as settings of the profile exchange-2003.
//!
//! The switches are those of HP's EVA5000 white paper. [`switches`] reads them; [`translate`] says what
//! each of them becomes here.

mod switches;

use std::fmt::{self, Write};
use std::path::PathBuf;

use config::{ByteSize, TimeSpan};
use execution::{Error, Output, RunOptions};

use super::draft::{log_buffer_bytes, number};
use crate::results_place;
use crate::scenario::Scenario;
use crate::setting::{Key, Setting};
use switches::{Given, Switch};

/// What is named as the workload to run such a command line.
pub const NAME: &str = "legacy2003";

/// The profile whose settings the switches become.
pub const PROFILE: &str = "exchange-2003";

/// Bytes of the records that `-n` counts, as the log of Jetstress says.
const RECORD_BYTES: u64 = 1000;

/// The smallest database that a run takes, in records.
const FEWEST_RECORDS: u64 = (8 << 20) / RECORD_BYTES + 1;

/// Seconds in a year: the longest run.
const LONGEST_S: u64 = 365 * 86_400;

/// A command line of Jetstress 2003/2004, translated.
#[derive(Clone, Debug, Default)]
pub struct LegacyRun {
    /// The settings of [`PROFILE`] that it changes.
    pub settings: Vec<Setting>,
    /// Directory of the log; beside the database when absent.
    pub log_on: Option<PathBuf>,
    /// Run on the database that an earlier run has kept.
    pub reuse: bool,
    /// Keep the database.
    pub keep: bool,
    /// Build the database and end.
    pub build_only: bool,
    /// Each switch, and what it became.
    lines: Vec<(String, String)>,
    /// Doubts about the mix.
    warnings: Vec<String>,
}

/// Translates the words behind `--`.
///
/// # Errors
/// A switch that Jetstress does not have, a value that is none, or switches that do not fit each other.
pub fn translate(words: &[String]) -> Result<LegacyRun, Error> {
    let given = Given::parse(words)?;
    let mut run = LegacyRun::default();
    database(&mut run, &given)?;
    load(&mut run, &given)?;
    engine(&mut run, &given)?;
    Ok(run)
}

impl LegacyRun {
    /// Puts the settings under those of a scenario, so that options beside the switches win. Where no directory
    /// for the results is named, one is taken that is on no target.
    ///
    /// # Errors
    /// There is no such directory.
    pub fn apply(&self, scenario: &mut Scenario, on: &[PathBuf]) -> Result<(), Error> {
        scenario
            .settings
            .splice(0..0, self.settings.iter().cloned());
        if scenario.output == Output::NewDirectory && on.is_empty() {
            scenario.output =
                Output::Directory(results_place::elsewhere(NAME, &[PathBuf::from(".")])?);
        }
        Ok(())
    }

    /// Completes the storage under test: the current directory unless another one is named.
    ///
    /// # Errors
    /// Options that contradict the switches.
    pub fn apply_to_storage(&self, options: &mut RunOptions) -> Result<(), Error> {
        if let Some(directory) = &self.log_on {
            if !options.log_on.is_empty() {
                return Err(Error::usage(
                    "--log-on and -l both name a directory for the log.",
                    "Leave one of them out.",
                ));
            }
            options.log_on = vec![directory.clone()];
        }
        if options.on.is_empty() {
            options.on = vec![PathBuf::from(".")];
        }
        options.reuse |= self.reuse;
        options.keep |= self.keep;
        options.build_only |= self.build_only;
        Ok(())
    }

    fn set(&mut self, switch: String, key: Key, value: &str) {
        let shown = match &key {
            Key::Path(path) => format!("{path} = {value}"),
            named => format!("--{named} {value}"),
        };
        self.lines.push((switch, shown));
        self.settings.push(Setting::new(key, value));
    }

    fn at(&mut self, switch: String, path: &str, value: &str) {
        self.set(switch, Key::Path(path.to_owned()), value);
    }

    fn says(&mut self, switch: &str, outcome: &str) {
        self.lines.push((switch.to_owned(), outcome.to_owned()));
    }
}

/// What becomes of the database: `-l`, `-n`, `-a`.
fn database(run: &mut LegacyRun, given: &Given) -> Result<(), Error> {
    run.set("one database".to_owned(), Key::Databases, "1");
    if let Some(directory) = given.text(Switch::Log) {
        run.says(&format!("-l {directory}"), &format!("--log-on {directory}"));
        run.log_on = Some(PathBuf::from(directory));
    }
    let records = given
        .whole(Switch::Records, 0..=u64::MAX / RECORD_BYTES)?
        .unwrap_or(0);
    let attaches = given.has(Switch::Attach);
    match (attaches, records) {
        (true, 0) => {
            run.reuse = true;
            run.says(
                "-a",
                "--reuse: the database that an earlier run has kept there",
            );
            if given.has(Switch::Records) {
                run.says("-n 0", "no records are inserted before the run");
            }
        }
        (true, _) => {
            return Err(Error::usage(
                format!("-a attaches a database, and -n {records} would fill a new one."),
                "Give -n 0 with -a, or leave -a out.",
            ));
        }
        (false, 0) => {
            return Err(Error::usage(
                "There is neither a database to attach (-a) nor one to fill (-n).",
                "Give -n and the number of 1-KB records for a new database, or -a for the one that is there.",
            ));
        }
        (false, _) if records < FEWEST_RECORDS => {
            return Err(Error::usage(
                format!("-n {records} is too small a database for a run."),
                format!(
                    "Give -n {FEWEST_RECORDS} or more; HP's tests had databases of 25 GB, -n 25000000."
                ),
            ));
        }
        (false, _) => {
            let size = ByteSize(records * RECORD_BYTES);
            run.set(format!("-n {records}"), Key::TargetSize, &size.to_string());
            run.keep = true;
            run.says("no -a", "--keep: the database stays for -a");
        }
    }
    Ok(())
}

/// How much it works: `-t`, `-i`, `-r`, `-d`, `-z`, `-q`.
fn load(run: &mut LegacyRun, given: &Given) -> Result<(), Error> {
    let seconds = given.whole(Switch::Seconds, 0..=LONGEST_S)?;
    match seconds {
        Some(0) if run.keep => {
            run.build_only = true;
            run.says(
                "-q 0",
                "--build-only: the database is built, and no test is run",
            );
        }
        Some(0) => {
            return Err(Error::usage(
                "-q 0 with -a has nothing to do.",
                "Give -q and the length of the run in seconds, such as -q 7200.",
            ));
        }
        Some(seconds) => {
            let duration = TimeSpan::seconds(seconds).to_string();
            run.set(format!("-q {seconds}"), Key::Duration, &duration);
        }
        None => run.says("no -q", "the two hours of the profile"),
    }
    let threads = given.whole(Switch::Threads, 1..=65_536)?;
    match threads {
        Some(threads) => run.set(format!("-t {threads}"), Key::Threads, &threads.to_string()),
        None if run.build_only => run.set("no -t".to_owned(), Key::Threads, "1"),
        None => {
            return Err(Error::usage(
                "The number of threads is missing.",
                "Give it with -t, such as -t 18; Jetstress 2003/2004 did not tune it.",
            ));
        }
    }
    run.at("fixed threads".to_owned(), "mail.iops_per_mailbox", "0");
    mix(run, given)
}

/// The operations. What they leave are seeks: all of them unless switches say otherwise.
fn mix(run: &mut LegacyRun, given: &Given) -> Result<(), Error> {
    let shares = [
        (Switch::Insert, "mail.mix.insert_percent"),
        (Switch::Replace, "mail.mix.replace_percent"),
        (Switch::Delete, "mail.mix.delete_percent"),
        (Switch::Lazy, "mail.mix.lazy_commit_percent"),
    ];
    let mut percents = [0.0; 4];
    for ((switch, path), percent) in shares.into_iter().zip(&mut percents) {
        let found = given.percent(switch)?;
        *percent = found.unwrap_or(0.0);
        let letter = switch.letter();
        let name = match found {
            Some(share) => format!("-{letter} {share}"),
            None => format!("no -{letter}"),
        };
        run.at(name, path, &number(*percent));
    }
    let [insert, replace, delete, _] = percents;
    let changes = insert + replace + delete;
    if changes > 100.0 {
        return Err(Error::usage(
            format!("-i, -r and -d add up to {} percent.", number(changes)),
            "Lower them to 100 or less together; what they leave are seeks.",
        ));
    }
    run.says(
        "the rest",
        &format!("seeks: {} percent", number(100.0 - changes)),
    );
    if delete > insert {
        run.warnings.push(format!(
            "-d {} deletes more than -i {} inserts: the records become fewer.",
            number(delete),
            number(insert)
        ));
    }
    Ok(())
}

/// Memory: `-b`, `-g`.
fn engine(run: &mut LegacyRun, given: &Given) -> Result<(), Error> {
    if let Some(megabytes) = given.whole(Switch::Cache, 1..=1 << 20)? {
        let value = ByteSize::mib(megabytes).to_string();
        run.at(
            format!("-b {megabytes}"),
            "engine.cache_size_per_database",
            &value,
        );
    }
    if let Some(buffers) = given.whole(Switch::LogBuffers, 16..=131_072)? {
        let value = ByteSize(log_buffer_bytes(buffers as u32)).to_string();
        run.at(format!("-g {buffers}"), "engine.log_buffer", &value);
    }
    Ok(())
}

impl fmt::Display for LegacyRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("The switches of Jetstress 2003/2004 as settings of {PROFILE}:\n");
        let switches = self.lines.iter().map(|(switch, _)| switch.len());
        let width = switches.max().unwrap_or(0);
        for (switch, outcome) in &self.lines {
            writeln!(text, "  {switch:width$}  {outcome}")?;
        }
        for warning in &self.warnings {
            writeln!(text, "{warning}")?;
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Result<LegacyRun, Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        translate(&words)
    }

    fn value_of(run: &LegacyRun, key: &str) -> Option<String> {
        let found = run.settings.iter().find(|one| one.key.to_string() == key);
        found.map(|one| one.value.to_string())
    }

    #[test]
    fn the_command_line_of_the_white_paper_is_understood() {
        let run = translated("-l /logs -n 0 -b 64 -t 18 -I 15 -r 35 -d 5 -z 93 -a -q 7200 -g 500")
            .unwrap();
        assert!(run.reuse && !run.keep && !run.build_only);
        assert_eq!(run.log_on.as_deref(), Some(std::path::Path::new("/logs")));
        for (key, value) in [
            ("threads", "18"),
            ("duration", "2h"),
            ("mail.mix.insert_percent", "15"),
            ("mail.mix.replace_percent", "35"),
            ("mail.mix.delete_percent", "5"),
            ("mail.mix.lazy_commit_percent", "93"),
            ("engine.cache_size_per_database", "64MiB"),
            ("engine.log_buffer", "252KiB"),
        ] {
            assert_eq!(value_of(&run, key).as_deref(), Some(value), "{key}");
        }
        assert!(run.to_string().contains("seeks: 45 percent"), "{run}");
    }

    #[test]
    fn a_new_database_is_built_and_kept() {
        let run = translated("-n 100000 -q 0").unwrap();
        assert!(run.build_only && run.keep && !run.reuse);
        assert_eq!(value_of(&run, "target-size").as_deref(), Some("100MB"));
        assert!(run.to_string().contains("seeks: 100 percent"), "{run}");
        let run = translated("-n 100000 -t 2 -d 12").unwrap();
        assert!(run.to_string().contains("deletes more"), "{run}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (line, says) in [
            ("", "neither a database"),
            ("-n 0 -t 2", "neither a database"),
            ("-a -n 5 -t 2", "-a attaches"),
            ("-n 5 -t 2", "too small"),
            ("-a", "number of threads is missing"),
            ("-a -t 0", "-t 0"),
            ("-a -t 2 -q 0", "nothing to do"),
            ("-a -t 2 -i 90 -d 20", "110 percent"),
            ("-a -t 2 -z 101", "-z 101"),
            ("-a -t 2 -g 1", "-g 1"),
            ("-a -t 2 -n 99999999999999999999", "-n 99999999999999999999"),
        ] {
            let refused = translated(line).unwrap_err();
            assert!(refused.to_string().contains(says), "{line}: {refused}");
        }
    }
}
