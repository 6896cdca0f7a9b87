//! `proofload run brokerage`: a house on a real database.
//!
//! As for mail, everything that can be refused is refused before anything is written. Then the
//! target is claimed, a server is started on it (or one that is there is asked), the house is
//! built, runs, and its books are checked; in the end everything that was made is removed, unless
//! it is to be kept.
//!
//! - [`size`]: the house that fits the size asked for.
//! - [`server`]: the database: a server of our own, a file, or one that is there.
//! - [`password`]: keeps passwords out of the list of processes.

pub mod password;
mod server;
mod size;

use std::path::PathBuf;
use std::sync::Arc;

use brokerage::database::{State, Target, missing_tables};
use brokerage::house::House;
use brokerage::run::drive::{self, Parts};
use brokerage::run::stages::Wanted;
use brokerage::run::volume::Volume;
use jiff::Timestamp;
use measure::host::HostMonitor;
use measure::result::{ErrorKind, RunResult, Verdict};
use measure::run_directory::RunDirectory;
use workload::controller::RunPlan;
use workload::profile::Profile;

use crate::cli::RunOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::run::{Recorder, caution, results, tell};
use crate::target::{self, Claim, Layout, Request};
use crate::{human, interrupt, live};
use server::{Opened, Place, Watched};
use size::Premises;

/// Runs a brokerage and says how it ended.
pub fn run(options: &RunOptions, profile: &Profile) -> Result<ExitStatus, Failure> {
    let target = wanted_database(options)?;
    let layout = survey(options, profile, &target)?;
    let dialect = server::dialect(&target, layout.as_ref());
    let premises = size::premises(profile, dialect)?;
    if let Some(layout) = &layout {
        results::refuse_on_target(options, layout)?;
        size::check_space(layout, &premises, profile, options.reuse)?;
    }
    results::check(options)?;
    if options.dry_run {
        return print(&size::describe(
            options,
            profile,
            &premises,
            layout.as_ref(),
        ));
    }
    let caution = caution(profile).filter(|_| !options.build_only && !options.quiet);
    if let Some(caution) = caution {
        tell!("{}", caution.to_string().trim_end());
    }
    let started = Timestamp::now();
    let claim = layout
        .map(|layout| claim(options, profile, layout))
        .transpose()?;
    let watched = Watched {
        data: options.on.first().map(PathBuf::as_path),
        log: options.log_on.first().map(PathBuf::as_path),
    };
    let layout = claim.as_ref().map(Claim::layout);
    let opened = server::open(profile, &premises, &target, watched, layout);
    let opened = match opened {
        Ok(opened) => opened,
        Err(failure) => {
            // Nothing of use was made: the first failure is the one to tell.
            let _ = claim.map(Claim::release);
            return Err(failure);
        }
    };
    let layout = claim.as_ref().map(Claim::layout);
    let ready = prepare(options, profile, premises, &opened).and_then(|premises| {
        let directory = results::open(options, profile, started)?;
        let base = base(options, profile, &opened, layout, started);
        results::begin(&directory, &base)?;
        Ok((premises, directory, base))
    });
    let (premises, directory, base) = match ready {
        Ok(ready) => ready,
        Err(failure) => {
            let fresh = !options.reuse;
            let _ = opened.close(fresh && claim.is_some());
            let _ = claim.map(Claim::release);
            return Err(failure);
        }
    };
    let path = directory.path().to_owned();
    let driven = conduct(options, profile, premises, &opened, base, directory);
    let fate = settle(options, claim, opened, driven.as_ref().ok())?;
    let result = driven?;
    tell(options, &result, &path, &fate)?;
    Ok(ExitStatus::from(result.verdict))
}

/// What `--database` names, and whether `--on` goes with it.
fn wanted_database(options: &RunOptions) -> Result<Target, Failure> {
    let target = match &options.database {
        None => Target::Auto,
        Some(text) => Target::parse(text)
            .map_err(|error| Failure::usage(format!("{}.", human::sentence(&error)), ""))?,
    };
    let is_there = matches!(target, Target::PostgreSql(_) | Target::MariaDb(_));
    if !is_there && options.on.is_empty() {
        return Err(Failure::usage(
            "A brokerage needs storage to run on.",
            "Name an empty directory on it with --on DIR, or a server that is there with \
             --database postgres://user@host/database.",
        ));
    }
    for (option, paths) in [("--on", &options.on), ("--log-on", &options.log_on)] {
        if is_there && let Some(missing) = paths.iter().find(|path| !path.exists()) {
            return Err(Failure::usage(
                format!("{} does not exist.", missing.display()),
                format!(
                    "Give {option} a directory on the volume of the server's files, to have it \
                     measured, or leave {option} away."
                ),
            ));
        }
        if is_there && paths.len() > 1 {
            return Err(Failure::usage(
                format!("A brokerage has one database, and {option} names several directories."),
                format!("Give {option} {}.", paths[0].display()),
            ));
        }
    }
    if is_there && options.on.is_empty() && !options.log_on.is_empty() {
        return Err(Failure::usage(
            "--log-on names the volume of a server's log, and --on, for its data, is missing.",
            "Give both, or leave --log-on away.",
        ));
    }
    if target == Target::Sqlite && !options.log_on.is_empty() {
        return Err(Failure::usage(
            "--log-on does not go with --database sqlite, which keeps its log beside its file.",
            "Leave --log-on away.",
        ));
    }
    if options.erase_device {
        return Err(Failure::usage(
            "--erase-device does not go with a brokerage: a database server needs a file system.",
            "Make one on the device, mount it, and name a directory on it with --on.",
        ));
    }
    Ok(target)
}

/// Looks at the storage under test. A server that is there has its data where it has it: `--on`
/// then only says which volume to watch, and nothing is made there.
fn survey(
    options: &RunOptions,
    profile: &Profile,
    target: &Target,
) -> Result<Option<Layout>, Failure> {
    if matches!(target, Target::PostgreSql(_) | Target::MariaDb(_)) {
        return Ok(None);
    }
    target::survey(&Request {
        on: &options.on,
        log_on: &options.log_on,
        profile,
        reuse: options.reuse,
        erase_device: false,
    })
    .map(Some)
}

fn claim(options: &RunOptions, profile: &Profile, layout: Layout) -> Result<Claim, Failure> {
    if options.reuse {
        return Ok(Claim::reuse(layout));
    }
    let workload = crate::workloads::short_name(&options.workload);
    Claim::make(layout, &workload, profile, false)
}

/// Makes sure that what is there is what was asked for; gives the house that will run.
fn prepare(
    options: &RunOptions,
    profile: &Profile,
    premises: Premises,
    opened: &Opened,
) -> Result<Premises, Failure> {
    let house = look(options, premises.house, opened)?;
    let premises = Premises { house, ..premises };
    if !options.reuse {
        let allowed = opened.database.may_create();
        allowed.map_err(|error| server::refusal(&error))?;
    }
    if opened.was_there {
        if let Some(place) = opened.place.as_ref().filter(|_| !options.reuse) {
            size::check_room(&place.data, &place.data, &premises, profile)?;
        }
        let users = profile.brokerage.users;
        let sessions = match options.build_only {
            true => server::loaders_for(users) as u32,
            false => server::sessions_for(users),
        };
        let admitted = opened.database.admits(sessions);
        admitted.map_err(|error| server::refusal(&error))?;
    }
    Ok(premises)
}

/// Looks at what is there; gives the house that will run.
fn look(options: &RunOptions, house: House, opened: &Opened) -> Result<House, Failure> {
    let state = opened.database.state();
    match state.map_err(|error| server::refusal(&error))? {
        State::Absent if options.reuse => Err(Failure::usage(
            "--reuse finds no brokerage there.",
            "Build one first with --keep or --build-only, or leave --reuse away.",
        )),
        State::Absent => Ok(house),
        // A place of our own is nobody else's: its server did not run.
        State::Building(_) if !opened.was_there => Err(Failure::environment(
            "There is a brokerage whose building was interrupted.",
            "Remove what is there (the same command without --reuse says how), and build anew.",
        )),
        // Another run may be at it: it is ours, but not ours alone.
        State::Building(_) => Err(Failure::environment(
            "There is a brokerage whose building was interrupted, or still goes on.",
            "If no other run is at it, remove it with 'DROP DATABASE proofload_brokerage' (or the \
             name of the database that --database names) and build anew.",
        )),
        State::Ready(build) if options.reuse => {
            let kept = House::new(build.customers, build.trade_days, build.seed);
            let scale = |house: &House| (house.customers(), house.trade_days());
            if options.target_size.is_some() && scale(&kept) != scale(&house) {
                let told = |(customers, days)| {
                    let customers = human::count_of(u64::from(customers));
                    let days = human::count(u64::from(days), "day");
                    format!("{customers} customers with {days} of trading")
                };
                return Err(Failure::usage(
                    format!(
                        "The brokerage there has {}, and --target-size asks for {}.",
                        told(scale(&kept)),
                        told(scale(&house))
                    ),
                    "Leave --target-size away to run on it as it is.",
                ));
            }
            let missing = missing_tables(&*opened.database);
            let missing = missing.map_err(|error| server::refusal(&error))?;
            if !missing.is_empty() {
                return Err(Failure::environment(
                    format!(
                        "The brokerage there has lost tables: {}.",
                        missing.join(", ")
                    ),
                    "Somebody has removed them since it was built. Remove what is left of it, and \
                     build it anew.",
                ));
            }
            Ok(kept)
        }
        State::Ready(build) => Err(Failure::environment(
            format!(
                "There is a brokerage of {} customers already, which an earlier run kept.",
                human::count_of(u64::from(build.customers))
            ),
            "Run on it with --reuse, name another place, or remove it (for a server: 'DROP \
             DATABASE proofload_brokerage').",
        )),
    }
}

/// What is known before the run.
fn base(
    options: &RunOptions,
    profile: &Profile,
    opened: &Opened,
    layout: Option<&Layout>,
    started: Timestamp,
) -> RunResult {
    match layout {
        Some(layout) => results::base(options, profile, layout, started),
        None => results::base_of(
            options,
            profile,
            opened.place.as_ref().map(|place| place.data.as_path()),
            started,
        ),
    }
}

/// Runs the plan to its end and writes the result.
fn conduct(
    options: &RunOptions,
    profile: &Profile,
    premises: Premises,
    opened: &Opened,
    base: RunResult,
    directory: RunDirectory,
) -> Result<RunResult, Failure> {
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let devices = base.host.devices.iter().map(|device| device.name.clone());
    let monitor = HostMonitor::new(devices);
    let mut profile = profile.clone();
    // A rate of transactions is the house's own affair; the conductor holds rates of I/O.
    let transactions_per_second = profile.run.held_rate.take();
    let mut plan = RunPlan::new(&profile, 1);
    // A server's cache is its own affair: nobody sees whether a page had to wait for room there.
    plan.profile.service_levels.page_fault_stalls_per_second = f64::INFINITY;
    plan.build_only = options.build_only;
    plan.reuse = options.reuse;
    plan.database_bytes = premises.bytes();
    let parts = Parts {
        database: Arc::clone(&opened.database),
        house: premises.house,
        volume: volume(opened.place.as_ref()),
        wanted: Wanted {
            is_built: opened.when_built(),
            revive: opened.when_gone(),
            transactions_per_second,
            loading_threads: server::loaders_for(profile.brokerage.users),
        },
        server: opened.server.clone(),
    };
    let mut recorder = Recorder::new(live::view(options.quiet), directory, stop.clone());
    let result = drive::run(plan, base, Some(monitor), stop, &mut recorder, parts);
    let (directory, trouble) = recorder.finish();
    let written = directory.write_result(&result);
    match (trouble, written) {
        (Some(error), _) | (None, Err(error)) => Err(results::unwritable(&error)),
        (None, Ok(())) => Ok(result),
    }
}

fn volume(place: Option<&Place>) -> Volume {
    match place {
        Some(place) => Volume::watch(&place.data, &place.log),
        None => Volume::unknown(),
    }
}

/// Stops what was started and removes what was made, unless it is to be kept; says in a sentence
/// what became of it.
fn settle(
    options: &RunOptions,
    claim: Option<Claim>,
    opened: Opened,
    result: Option<&RunResult>,
) -> Result<String, Failure> {
    let went_wrong = result.is_none_or(|result| result.verdict == Verdict::Error);
    let interrupted = result.is_some_and(|result| result.verdict == Verdict::Interrupted);
    let built = options.build_only && !interrupted && !went_wrong;
    // What an earlier run kept is never removed, nor what cannot be looked at.
    // A house that was not whole when its server went is of no use to anybody.
    let was_whole = result
        .and_then(|result| result.server.as_ref())
        .is_some_and(|server| server.built_bytes > 0);
    let keeps = match opened.database.state() {
        _ if options.reuse => true,
        Ok(State::Ready(_)) => options.keep || built || went_wrong,
        Ok(State::Absent | State::Building(_)) => false,
        Err(_) => was_whole || opened.was_there,
    };
    let name = opened.describe();
    if let Err(left) = opened.close(!keeps) {
        // What came out of the run is worth more than what is left of it, so this ends nothing.
        if result.is_none() {
            tell!("{left}");
        }
        return Ok(left);
    }
    if keeps {
        let is_broken = result.and_then(RunResult::ended_by) == Some(ErrorKind::Books);
        let next = if is_broken {
            "look at its books there, and remove it before you build anew"
        } else if went_wrong {
            "--reuse runs on it again when the cause is mended"
        } else {
            "run on it again with --reuse"
        };
        return Ok(format!("The brokerage is kept in {name}: {next}."));
    }
    for left in claim.map(Claim::release).transpose()?.unwrap_or_default() {
        tell!(
            "Left in place, because it was not made by Proofload: {}",
            left.display()
        );
    }
    Ok(format!(
        "The brokerage was removed from {name}; --keep keeps it for the next run."
    ))
}
