//! What can be typed: commands and options. What they ask for is made of them here,
//! and done in `commands`.

// Documentation comments of options are the help that the terminal prints: plain text, not Markdown.
#![allow(rustdoc::invalid_html_tags)]

mod calibrate;
mod certificate;
mod choice;
mod crashtest;
mod doctor;
mod import;
mod load;
mod output;
mod page;
mod predict;
#[cfg(test)]
mod reference_tests;
mod run;
mod search;
mod serve;
mod study;
mod watch;
mod witness;

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use config::Choice;
use edb::dump::RowFormat;

use self::choice::choice;

pub use calibrate::CalibrateOptions;
pub use certificate::{CertificateOptions, VerifyOptions};
pub use crashtest::CrashtestOptions;
pub use doctor::DoctorOptions;
pub use import::ImportOptions;
pub use output::OutputOptions;
pub use page::PageOptions;
pub use predict::PredictOptions;
pub use run::RunOptions;
pub use serve::{EventOptions, ServeOptions};
pub use study::StudyOptions;
pub use witness::{AuditOptions, WitnessServerOptions};

/// Shows whether a storage system will carry your mail server or your database.
///
/// Proofload runs the real workload - a database engine of the kind a mail server uses, its log,
/// its cache, its mailboxes, or a brokerage on PostgreSQL - on the storage you name, and judges the latencies against the limits
/// that the workload's profile states.
#[derive(Debug, Parser)]
#[command(name = "proofload", version, max_term_width = 100, after_help = EXAMPLES)]
#[command(after_long_help = LONG_EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct CommandLine {
    /// The command that was named.
    #[command(subcommand)]
    pub command: Command,
}

impl CommandLine {
    /// The command line of this process; ends it where the line says nothing that can be obeyed.
    ///
    /// A number below 0 is taken as the value that it is meant to be, and refused where its range
    /// is known.
    pub fn of_process() -> Self {
        let command = Self::command().mut_subcommands(|command| {
            command.mut_args(|arg| {
                let is_value = arg.get_action().takes_values() && !arg.is_positional();
                arg.allow_negative_numbers(is_value)
            })
        });
        Self::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }
}

const EXAMPLES: &str = "Examples:
  proofload run exchange-2013 --on /mnt/a,/mnt/b --log-on /mnt/log
  proofload run exchange-2013 --on /mnt/a --target-size 20GB --duration 10m
  proofload run brokerage --on /mnt/a --users 30 --target-size 20GB --duration 1h
  proofload predict exchange-2013 --array msa2050-tier --duration 2h
  proofload study msa2040 --out msa2040-study
  proofload list
  proofload show exchange-2013 > mine.toml";

const LONG_EXAMPLES: &str = "Examples:
  proofload run exchange-2013 --on /mnt/a,/mnt/b --log-on /mnt/log
  proofload run exchange-2013 --on /mnt/a --target-size 20GB --duration 10m
  proofload predict exchange-2013 --array msa2050-tier --duration 2h
  proofload study msa2040 --out msa2040-study
  proofload list
  proofload show exchange-2013 > mine.toml

Exit status:
    0  pass: every service level was met
    1  the run completed, but a service level was not met
    2  usage or configuration: nothing was run
    3  environment: too little space, no permission, unsuitable storage
    4  an I/O error, a bad page or a full disk during the run; a failed consistency check;
       acknowledged transactions that an audit does not find
    5  inconclusive: too few samples or requests, not steady where that is asked for, a host,
       its CPUs, its memory or a cache that decided the figures, or nothing reached the storage
  130  interrupted; the partial result is saved";

/// The commands with their options.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workload on real storage and judge it.
    Run(Box<RunOptions>),
    /// Predict how a workload would run on a modelled array, in simulated time.
    Predict(Box<PredictOptions>),
    /// Write the predictor as a web page: one file that works offline.
    ///
    /// The page computes what 'predict' computes, by the same model, and saves designs that 'predict' runs.
    Page(PageOptions),
    /// Repeat published studies on modelled arrays: the model beside the paper.
    ///
    /// Cases that the directory of the results holds from an earlier call, with the same settings,
    /// are not predicted again.
    Study(Box<StudyOptions>),
    /// Make a model of a disk that does what was measured on a real one, here or by fio.
    Calibrate(CalibrateOptions),
    /// Show a run that goes on, in another terminal, by its run directory.
    ///
    /// 'q' leaves the view; nothing here stops the run. Without a terminal the state is printed once.
    Attach(AttachOptions),
    /// Make the report of one run, or compare several.
    Report(ReportOptions),
    /// Recompute the verdict of runs from their samples, and find what was changed in them.
    Verify(VerifyOptions),
    /// Keep what runs on other machines acknowledge, for their audit after a power cut.
    ///
    /// Hashes and sequence numbers are kept, no data. Ends when it is interrupted.
    Witness(WitnessServerOptions),
    /// Recover the databases of a run after a power cut or a kill, and find out what of that which it
    /// had acknowledged is lost.
    Audit(AuditOptions),
    /// Make the certificate of runs for signature: HTML and PDF, a summary of several runs, two pages for each.
    ///
    /// Runs that 'verify' finds changed are refused. A run that did not pass becomes a test report that
    /// says so.
    Certificate(Box<CertificateOptions>),
    /// List what is built in.
    List(ListOptions),
    /// Print a profile, array, disk or study as it is written, or all its settings in force.
    Show(ShowOptions),
    /// Find out what will distort a test on directories or block devices, and what to change.
    ///
    /// Reads a file without a name, or the block device; nothing is left behind, and a place that a run uses
    /// is named and left alone. With --mpi: checks how the processes of a run on several hosts were launched.
    Doctor(DoctorOptions),
    /// Ask what the storage shall carry, inspect it, and write a profile with the command that runs it.
    ///
    /// Questions go to standard error, answers come from standard input, a line each; the command is printed
    /// on standard output. Nothing is written before the last answer.
    #[command(after_help = "Examples:
  proofload init
  printf 'exchange-2013\n/mnt/a\n' | proofload init     (ends with status 2: answers are missing)

Exit status:
    0  the profile was written
    2  usage: the answers ended before the last question
    3  environment: the profile cannot be written")]
    Init,
    /// Make a profile of a configuration of Microsoft's Jetstress 2007, 2010 or 2013.
    ///
    /// The profile goes to standard output or a file; what was kept, changed and of no use is listed on
    /// standard error, with the command that runs it.
    Import(ImportOptions),
    /// Examine database files.
    #[command(after_help = "Examples:
  proofload edb info /mnt/a/mail-001/mail-001.edb
  proofload edb check /mnt/a/mail-001/mail-001.edb

Exit status:
    0  done; 'check' found no damage
    2  usage: a file or a table that does not exist, or one that the command does not take
    3  environment: the file is in use, may not be read, or was not closed properly
    4  the file is damaged, or its storage failed")]
    Edb {
        /// What to examine.
        #[command(subcommand)]
        command: EdbCommand,
    },
    /// Test the storage engine on simulated storage that loses power, fails and lies.
    ///
    /// Each seed stands for a database with random settings, sessions, power cuts and at most one
    /// kind of fault, in simulated time, compared with a model in memory. Nothing is written.
    Crashtest(CrashtestOptions),
    /// Let real programs use a modelled array in real time: its volumes are files that FUSE mounts.
    ///
    /// What programs store is kept in memory, or with --store in a directory. Ctrl-C unmounts the volumes.
    Serve(Box<ServeOptions>),
    /// Let something happen now to an array that is served.
    ///
    /// Events have the words of 'serve --event', without the time. Answered with a sentence once it has happened.
    Event(EventOptions),
    /// Print the completion script of a shell.
    #[command(after_help = "Examples:
  proofload completions bash > /etc/bash_completion.d/proofload")]
    Completions {
        /// The shell to complete in.
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write the pages of all commands.
    Manual(ManualOptions),
}

/// Options of `manual`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload manual > proofload.1
  proofload manual edb info | man -l -
  proofload manual --out /usr/local/share/man/man1")]
pub struct ManualOptions {
    /// The command whose page to print, such as 'run' or 'edb info' [default: the program].
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub of: Vec<String>,
    /// Write one page for each command into this directory.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Options of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload report proofload-runs/exchange-2013-20260801T120000Z
  proofload report runs/raid5 runs/raid10 --out compare.html
  proofload report runs/* --quiet --csv runs.csv
  proofload report runs/raid5 --fio-json raid5.json
  proofload report runs/raid5 --markdown ticket.md
  proofload report runs/raid5 --jetstress-report

Exit status:
    0  the report was written, whatever the verdict of the run is
    2  usage: not the directory of a run, or one of another schema
    3  environment: a file cannot be written")]
pub struct ReportOptions {
    /// Run directories. One gives its report, several a comparison.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// The HTML file to write [default: report.html in the run directory, or comparison.html].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write one row of figures for each run, for spreadsheets; '-' is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Also write the figures of one run in the shape of fio's JSON; '-' is standard output.
    #[arg(long, value_name = "FILE")]
    pub fio_json: Option<PathBuf>,
    /// Also write a summary as Markdown, for tickets and wikis [without FILE: standard output].
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub markdown: Option<PathBuf>,
    /// Write over files that are there already; in the directory of a run only over its report.
    #[arg(long)]
    pub overwrite: bool,
    /// Also write each run into its directory in the layout of Jetstress's reports (HTML and XML, for
    /// scripts that read those).
    #[arg(long)]
    pub jetstress_report: bool,
    /// Print no tables, only write the files.
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload list
  proofload list arrays")]
pub struct ListOptions {
    /// What to list.
    #[arg(value_enum, default_value_t = Listed::Workloads)]
    pub what: Listed,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Workload profiles for `run` and `predict`.
    Workloads,
    /// Modelled arrays for `predict`.
    Arrays,
    /// Disks to describe arrays with.
    Disks,
    /// Published studies for `study`.
    Studies,
    /// Scripts of events for `serve`.
    Scripts,
}

/// Options of `attach`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload attach proofload-runs/exchange-2013-...
  proofload attach out | cat")]
pub struct AttachOptions {
    /// The directory into which the run writes its results.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Options of `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload show exchange-2010
  proofload show msa2040 > mine.toml
  proofload show msa2040 --study
  proofload show exchange-2010 --set mail.databases=12
  proofload show msa2050-tier --resolved
  proofload show ./mine.toml
  proofload show ./my-array.toml --array
  proofload show exchange-2010 --schema > profile.schema.json")]
pub struct ShowOptions {
    /// A bundled profile, array, disk or study, or the path of a file.
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// The file describes an array, not a workload profile.
    #[arg(long, conflicts_with_all = ["disk", "study"])]
    pub array: bool,
    /// The file describes a disk.
    #[arg(long, conflicts_with = "study")]
    pub disk: bool,
    /// The file or the name is that of a study, also where an array has the same name.
    #[arg(long)]
    pub study: bool,
    /// Show all settings in force with this one changed.
    #[arg(long, value_name = "PATH.TO.KEY=VALUE")]
    pub set: Vec<String>,
    /// Print every setting with its value, also those that the document leaves at their default. A file of
    /// your own is always shown so.
    #[arg(long)]
    pub resolved: bool,
    /// Print the JSON Schema of files of this kind, by which editors complete and check them.
    #[arg(long, conflicts_with_all = ["set", "resolved"])]
    pub schema: bool,
}

/// The commands below `edb`.
#[derive(Debug, Subcommand)]
pub enum EdbCommand {
    /// Print headers, tables and space of database files.
    Info {
        /// Database files to examine.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Read every page to count the rows of each table and the pages of each kind.
        #[arg(long)]
        count: bool,
        /// Print one JSON object for each file, on a line of its own.
        #[arg(long)]
        json: bool,
    },
    /// Verify every page of database files, and the trees they form.
    Check {
        /// Database files to verify.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print one JSON object for each file, on a line of its own.
        #[arg(long)]
        json: bool,
    },
    /// Print the rows of a table in the order of its primary index.
    Dump(DumpOptions),
    /// Apply the log of a database that was not closed properly, and close it.
    Recover {
        /// The database file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Directory of its log files [default: where a run keeps them, such as log-001 beside
        /// mail-001].
        #[arg(long, value_name = "DIR")]
        log: Option<PathBuf>,
    },
}

/// Options of `edb dump`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload edb dump mail-001/mail-001.edb > rows.csv
  proofload edb dump mail-001/mail-001.edb MSysObjects --format json-lines
  proofload edb dump Windows.edb SystemIndex_Gthr --as-is | head")]
pub struct DumpOptions {
    /// The database file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the table; it may be left out if there is only one besides those of the system.
    #[arg(value_name = "TABLE")]
    pub table: Option<String>,
    /// How to print rows.
    #[arg(long, value_parser = choice::<RowFormat>(), default_value = RowFormat::Csv.name())]
    pub format: RowFormat,
    /// Also read a file that was not closed properly. Changes that are only in its log are missing,
    /// and rows may contradict each other.
    #[arg(long)]
    pub as_is: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::CommandLine::command().debug_assert();
    }
}
