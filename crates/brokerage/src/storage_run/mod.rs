//! `proofload run brokerage`: the brokerage on a real database.
//!
//! As for mail, everything that can be refused is refused before anything is written. Then the
//! target is claimed, a server is started on it (or one that is there is asked), the data set is
//! built, runs, and its data are checked; in the end everything that was made is removed, unless
//! it is to be kept.
//!
//! - [`size`]: the data set that fits the size asked for.
//! - [`wanted`]: what the options ask for.
//! - [`existing`]: a database that is there already.
//! - [`audit`]: what of it is there after a power cut.
//! - [`server`]: the database: a server of our own, a file, or one that is there.

mod audit;
mod existing;
mod server;
mod size;
mod wanted;

use std::path::PathBuf;
use std::sync::Arc;

use crate::database::{RunLock, State, Target};
use crate::guarantees;
use crate::ledger::Ledger;
use crate::profile::{BrokerageProfile, CheckedRows};
use crate::run::full_volume::Volumes;
use crate::run::stages::RunParameters;
use crate::run::start::{self, PreparedRun};
use crate::run::volume::Volume;
use crate::run_plan::run_plan;
use jiff::Timestamp;
use measure::host::HostMonitor;
use measure::result::{ErrorKind, RunResult, Verdict};
use measure::run_directory::RunDirectory;
use workload::Profile;
use workload::progress::StopRequest;

pub(crate) use audit::audit;
use execution::Error;
use execution::Outcome;
use execution::RunOptions;
use execution::conclude;
use execution::recorder::{Recorded, Recorder};
use execution::results;
use execution::storage_run::DeviceWatch;
use execution::storage_run::RunRequest;
use execution::storage_run::{
    PlannedSearch, PlannedWork, StorageRun, Witnessed, base, outcome, own, warn_of_left_files,
};
use execution::{Event, Observer};
use existing::{existing_data_set, locked};
use server::{Opened, Watched};
use size::SizedDatabase;
use storage::{Claim, Layout};
use wanted::{survey, wanted_database};

/// A run of a brokerage that can begin.
struct Prepared {
    request: RunRequest,
    options: RunOptions,
    profile: BrokerageProfile,
    target: Target,
    layout: Option<Layout>,
    sized_database: SizedDatabase,
}

/// The data set of a run, with what protects it and proves what became of it.
struct Guarded {
    sized_database: SizedDatabase,
    ledger: Ledger,
    /// The lock on a database that is there already.
    run_lock: Option<Box<dyn RunLock>>,
    /// The witness of the run, if there is one.
    witnessed: Witnessed,
}

/// Checks everything that a run needs. Writes nothing.
///
/// # Errors
/// The first thing that is in the way.
pub(crate) fn prepare_run(
    request: &RunRequest,
    options: &RunOptions,
    profile: &dyn Profile,
) -> Result<Box<dyn StorageRun>, Error> {
    let profile: &BrokerageProfile = own(profile)?;
    let target = wanted_database(options)?;
    let layout = survey(options, profile, &target)?;
    let dialect = server::dialect(&target, layout.as_ref());
    let sized_database = size::sized_database(profile, dialect)?;
    if let Some(layout) = &layout {
        base::refuse_on_target(&request.output, layout)?;
        size::check_space(layout, &sized_database, profile, options.reuse)?;
    }
    results::check(&request.output)?;
    Ok(Box::new(Prepared {
        request: request.clone(),
        options: options.clone(),
        profile: profile.clone(),
        target,
        layout,
        sized_database,
    }))
}

impl StorageRun for Prepared {
    fn describe(&self) -> Result<String, Error> {
        let layout = self.layout.as_ref();
        let described = size::describe(&self.request, &self.profile, &self.sized_database, layout);
        match layout {
            Some(_) => Ok(described),
            None => Ok(format!("{described}{}", self.ask_server()?)),
        }
    }

    fn work(&self) -> Result<PlannedWork, Error> {
        let bytes = self.sized_database.bytes();
        let all = match self.profile.brokerage.checked_rows {
            CheckedRows::All => bytes,
            CheckedRows::OfTheRun => 0,
        };
        let before = if self.options.build_only { 0 } else { all };
        Ok(PlannedWork {
            build_bytes: if self.options.reuse { 0 } else { bytes },
            kept_bytes: if self.options.reuse { before } else { 0 },
            compared_bytes: before,
            build_only: self.options.build_only,
            search: PlannedSearch::default(),
            warning: String::new(),
            verification: "consistency checks",
            // Once for the consistency checks, once to compare the rows.
            verified_bytes: 2 * all,
            fills_caches: false,
            ..PlannedWork::default()
        })
    }

    fn run(
        self: Box<Self>,
        mut observer: Box<dyn Observer>,
        stop: StopRequest,
    ) -> Result<Outcome, Error> {
        let Self {
            request,
            options,
            profile,
            target,
            layout,
            sized_database,
        } = *self;
        let (request, options, profile) = (&request, &options, &profile);
        let witnessed = Witnessed::begin(options)?;
        let started = Timestamp::now();
        let claim = layout
            .map(|layout| claim(request, options, profile, layout))
            .transpose()?;
        let watched = Watched {
            data: options.on.first().map(PathBuf::as_path),
            log: options.log_on.first().map(PathBuf::as_path),
        };
        let layout = claim.as_ref().map(Claim::layout);
        let notify = &mut |text: &str| observer.event(Event::Note(text));
        let opened = server::open(profile, &sized_database, &target, watched, layout, notify);
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                // Nothing of use was made: the first error is the one to report.
                let _ = claim.map(Claim::release);
                return Err(error);
            }
        };
        let layout = claim.as_ref().map(Claim::layout);
        let ready = prepare(request, options, profile, sized_database, &opened).and_then(
            |(sized_database, run_lock)| {
                let directory = results::open(
                    &request.output,
                    &request.name,
                    started,
                    &base::config_of_run(profile),
                    Some(&profile.run),
                )?;
                let mut base = base(request, options, profile, &opened, layout, started);
                witnessed.enter(&mut base);
                results::begin(directory.as_ref(), &base)?;
                let ledger = ledger(directory.as_ref());
                // Or the same command would be refused once there is room.
                let ledger =
                    ledger.inspect_err(|_| directory.iter().for_each(RunDirectory::discard))?;
                let ledger = ledger.reporting_to(witnessed.sender().zip(witnessed.run()));
                let guarded = Guarded {
                    sized_database,
                    ledger,
                    run_lock,
                    witnessed,
                };
                Ok((guarded, directory, base))
            },
        );
        let (guarded, directory, base) = match ready {
            Ok(ready) => ready,
            Err(error) => {
                let fresh = !options.reuse;
                let _ = opened.close(fresh && claim.is_some());
                let _ = claim.map(Claim::release);
                return Err(error);
            }
        };
        let fallbacks = base::fallbacks(claim.as_ref().map(Claim::layout));
        let recorder = Recorder::new(observer, directory, stop.clone()).with_fallbacks(fallbacks);
        let (mut observer, recorded, result) =
            drive(options, profile, guarded, &opened, base, recorder, stop);
        let kept = release(options, claim, opened, &result, &mut *observer);
        Ok(outcome(result, recorded, kept))
    }
}

impl Prepared {
    /// Connects to a server that is there and checks what a run needs of it, as the run would.
    ///
    /// # Errors
    /// What would end the run before it begins.
    fn ask_server(&self) -> Result<String, Error> {
        let watched = Watched {
            data: self.options.on.first().map(PathBuf::as_path),
            log: self.options.log_on.first().map(PathBuf::as_path),
        };
        let opened = server::open(
            &self.profile,
            &self.sized_database,
            &self.target,
            watched,
            None,
            &mut |_| {},
        )?;
        // What was locked is released at once.
        let size = self.sized_database;
        prepare(&self.request, &self.options, &self.profile, size, &opened)?;
        let sessions = server::sessions_for(self.profile.brokerage.users);
        let not_guaranteed = guarantees::missing(&opened.server.settings);
        let guarantees = match not_guaranteed.is_empty() {
            true => String::new(),
            false => format!(
                "It does not guarantee that committed work survives a crash, so the run cannot \
                 pass: {}.\n",
                not_guaranteed.join(", ")
            ),
        };
        Ok(format!(
            "Connected to {} {}, {}: it admits the {sessions} sessions of the run.\n\
             Connection: {}.\n{guarantees}",
            opened.server.name,
            opened.server.version,
            opened.describe(),
            opened.server.connection
        ))
    }
}

fn claim(
    request: &RunRequest,
    options: &RunOptions,
    profile: &BrokerageProfile,
    layout: Layout,
) -> Result<Claim, Error> {
    if options.reuse {
        return Ok(Claim::reuse(layout, profile.workload())?);
    }
    let workload = request.name.clone();
    Ok(Claim::make(layout, &workload, profile, false)?)
}

/// Makes sure that what is there is what was asked for; returns the data set of the run, and the lock
/// on a database that is there already.
fn prepare(
    request: &RunRequest,
    options: &RunOptions,
    profile: &BrokerageProfile,
    sized_database: SizedDatabase,
    opened: &Opened,
) -> Result<(SizedDatabase, Option<Box<dyn RunLock>>), Error> {
    let data_set = existing_data_set(request, options, sized_database.data_set, opened)?;
    let sized_database = SizedDatabase {
        data_set,
        ..sized_database
    };
    // Before anything else touches it: the database may be in use.
    let run_lock = match options.reuse {
        true => Some(locked(opened)?),
        false => None,
    };
    if !options.reuse {
        let allowed = opened.database.check_permission();
        allowed.map_err(|error| server::refusal(&error))?;
    }
    if opened.was_there {
        if let Some(place) = opened.place.as_ref().filter(|_| !options.reuse) {
            size::check_room(&place.data, &place.data, &sized_database, profile)?;
        }
        let users = profile.brokerage.users;
        let sessions = match options.build_only {
            true => server::loaders_for(users) as u32,
            false => server::sessions_for(users),
        };
        let admitted = opened.database.check_admission(sessions);
        admitted.map_err(|error| server::refusal(&error))?;
    }
    Ok((sized_database, run_lock))
}

/// What is known before the run.
fn base(
    request: &RunRequest,
    options: &RunOptions,
    profile: &BrokerageProfile,
    opened: &Opened,
    layout: Option<&Layout>,
    started: Timestamp,
) -> RunResult {
    match layout {
        Some(layout) => base::base(request, options, profile, layout, started),
        None => base::base_of(
            request,
            options,
            profile,
            opened.place.as_ref().map(|place| place.data.as_path()),
            started,
        ),
    }
}

/// Runs the plan to its end and writes the result.
fn drive(
    options: &RunOptions,
    profile: &BrokerageProfile,
    guarded: Guarded,
    opened: &Opened,
    base: RunResult,
    mut recorder: Recorder,
    stop: StopRequest,
) -> (Box<dyn Observer>, Recorded, RunResult) {
    let devices = base.host.devices.iter().map(|device| device.name.clone());
    let monitor = HostMonitor::new(devices);
    let mut profile = profile.clone();
    // The brokerage holds a rate of transactions itself; the run controller holds rates of I/O.
    let transactions_per_second = profile.run.held_rate.take();
    let mut plan = run_plan(&profile);
    plan.service_levels = profile.service_levels_on_storage();
    plan.build_only = options.build_only;
    plan.reuse = options.reuse;
    plan.together = options.together.clone();
    plan.warm_up = profile.run.warm_up.on_storage();
    plan.database_bytes = guarded.sized_database.bytes();
    let parts = PreparedRun {
        database: Arc::clone(&opened.database),
        data_set: guarded.sized_database.data_set,
        volume: volume(opened),
        ledger: guarded.ledger,
        run_lock: guarded.run_lock,
        parameters: RunParameters {
            brokerage: profile.brokerage.clone(),
            is_built: opened.when_built(),
            revive: opened.when_gone(),
            sessions_process: opened.sessions_process(),
            volumes: volumes(opened),
            placement: opened.placement(),
            transactions_per_second,
            keeps: options.keep || options.reuse,
            loading_threads: server::loaders_for(profile.brokerage.users),
        },
        server: opened.server.clone(),
    };
    let watch = DeviceWatch::begin(&base);
    let mut result = start::run(plan, base, Some(monitor), stop, &mut recorder, parts);
    guarded.witnessed.finish(&mut result);
    watch.finish(&mut result);
    conclude(&mut result, &profile);
    let (observer, recorded) = recorder.finish(&mut result);
    (observer, recorded, result)
}

/// The ledger of acknowledged transactions, beside the results.
fn ledger(directory: Option<&RunDirectory>) -> Result<Ledger, Error> {
    let ledger = match directory {
        Some(directory) => Ledger::create(directory.path()),
        None => Ledger::unnamed(),
    };
    ledger.map_err(|error| {
        Error::environment(
            format!("The ledger of acknowledged transactions cannot be created: {error}."),
            "Name another directory for the results with --out.",
        )
    })
}

fn volumes(opened: &Opened) -> Volumes {
    let place = opened.place.as_ref();
    Volumes::of(place.map_or(Vec::new(), |place| {
        vec![place.data.clone(), place.log.clone()]
    }))
}

fn volume(opened: &Opened) -> Volume {
    match &opened.place {
        Some(place) => Volume::watch(&place.data, &place.log, opened.process.clone()),
        None => Volume::unknown(),
    }
}

/// Stops what was started and removes what was made, unless it is to be kept; says in a sentence
/// which of both.
fn release(
    options: &RunOptions,
    claim: Option<Claim>,
    opened: Opened,
    result: &RunResult,
    observer: &mut dyn Observer,
) -> Result<String, Error> {
    let went_wrong = result.verdict == Verdict::Error || !result.errors.is_empty();
    let interrupted = result.verdict == Verdict::Interrupted;
    let built = options.build_only && !interrupted && !went_wrong;
    // What an earlier run kept is never removed, nor what cannot be looked at.
    // A data set that was incomplete when its server went is of no use to anybody.
    let server = result.server.as_ref();
    let was_whole = server.is_some_and(|server| server.size_begin_bytes > 0);
    let keeps = match opened.database.state() {
        _ if options.reuse => true,
        Ok(State::Ready(_)) => options.keep || built || went_wrong,
        Ok(State::Absent | State::Building(_)) => false,
        Err(_) => was_whole || opened.was_there,
    };
    let name = opened.describe();
    let mut left = match opened.close(!keeps) {
        Ok(left) => left,
        // What came out of the run is worth more than what is left of it, so this ends nothing.
        Err(error) => return Ok(error),
    };
    if keeps {
        let is_broken = result.ended_by() == Some(ErrorKind::Inconsistent);
        let next = if is_broken {
            "look at its tables there, and remove it before you rebuild"
        } else if went_wrong {
            "once the cause is fixed, --reuse runs on it again"
        } else {
            "run on it again with --reuse"
        };
        return Ok(format!("The database is kept in {name}: {next}."));
    }
    for path in claim.map(Claim::release).transpose()?.unwrap_or_default() {
        // A directory is left because of what is left in it.
        if !left.iter().any(|inner| inner.starts_with(&path)) {
            left.push(path);
        }
    }
    warn_of_left_files(&left, observer);
    Ok(match left.is_empty() {
        true => format!("The database was removed from {name}; --keep keeps it for the next run."),
        false => {
            format!("The database was removed from {name}, except what is not as the run made it.")
        }
    })
}
