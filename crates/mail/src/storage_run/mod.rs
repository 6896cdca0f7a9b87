//! Runs of the mail workload on real storage: databases of our own engine on directories or block
//! devices.

mod audit;
mod describe;
mod interrupted_build;
mod kept;
mod memory;
mod restored;

use std::collections::BTreeMap;
use std::sync::Arc;

use execution::storage_run::{
    Afterwards, Begun, OpenedPlace, Places, PlannedSearch, PlannedTests, PlannedWork, RunRequest,
    StorageRun, TargetRun, own, wall_clock,
};
use execution::{Error, Observer, Outcome, RunOptions};
use measure::recompute::InterruptedRun;
use measure::result::{ResumedBuild, TestKind};
use runtime::{AnyDirectory, Runtime};
use storage::Claim;
use witness::Sender;
use workload::Profile;
use workload::controller::plan::ReplicationPlan;
use workload::controller::run_on_threads;
use workload::failure::Failure;
use workload::progress::StopRequest;
use workload::random::derive;

use crate::edb_host::{DatabaseDirectories, EdbHost};
use crate::plan::MailPlan;
use crate::profile::MailProfile;
use kept::Kept;
use restored::Restored;

/// A run on databases of the mail engine that can begin.
struct MailRun {
    targets: TargetRun,
    profile: MailProfile,
    plan: MailPlan,
    /// The build with which it goes on.
    resumed: Option<ResumedBuild>,
    /// The copies that are restored first.
    restored: Restored,
    /// Bytes of the files of all databases when the load begins; those that are not there yet count as they will be
    /// built.
    begin_bytes: u64,
}

/// How databases that are kept after an error can be looked at.
const EXAMINED_BY: &str = "'proofload edb check' examines closed ones";

pub use audit::audit;
pub use interrupted_build::is_left_on;

/// Checks everything that a run needs. Writes nothing.
///
/// # Errors
/// The first thing that is in the way.
pub fn prepare(
    request: &RunRequest,
    options: &RunOptions,
    profile: &dyn Profile,
) -> Result<Box<dyn StorageRun>, Error> {
    refuse_options(options, own(profile)?)?;
    let targets = TargetRun::prepare(request, options, profile)?;
    let profile: &MailProfile = own(profile)?;
    let restored = match targets.sources() {
        Some(sources) => restored::check(sources, profile)?,
        None => Restored::default(),
    };
    // What lies on the targets is of no interest where copies come in its place.
    let databases = targets.sources().or(targets.kept());
    let kept = match databases {
        Some(claim) => kept::all(claim, profile.run.io_driver)?,
        None => Vec::new(),
    };
    let plan = plan(options, profile, databases.map(|claim| (claim, &*kept)))?;
    Ok(Box::new(MailRun {
        resumed: interrupted_build::resumed(&kept),
        begin_bytes: begin_bytes(profile, &kept),
        restored,
        plan,
        profile: profile.clone(),
        targets,
    }))
}

/// Bytes of all databases of the profile, of which these are there.
fn begin_bytes(profile: &MailProfile, kept: &[Kept]) -> u64 {
    let mail = &profile.mail;
    let built = kept.iter().filter(|one| one.is_built());
    let files = built.filter_map(|one| one.file_bytes);
    let (count, bytes) = files.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
    bytes + u64::from(mail.databases).saturating_sub(count) * mail.database_bytes()
}

/// Options that do not go together with the tests of the run.
fn refuse_options(options: &RunOptions, profile: &MailProfile) -> Result<(), Error> {
    let tests = profile.tests();
    if options.backup_to.is_some() && !tests.contains(&TestKind::Backup) {
        return Err(Error::usage(
            "--backup-to says where a backup goes, and this run makes none.",
            "Add --test backup or --test all, or leave --backup-to out.",
        ));
    }
    if !options.copy_to.is_empty() && !profile.test.kind.is_measured() {
        return Err(Error::usage(
            "--copy-to keeps passive copies that follow a load, and this run measures none.",
            "Make the performance test with it, or leave --copy-to out.",
        ));
    }
    if options.witness.is_some() && tests.contains(&TestKind::Recovery) {
        return Err(Error::usage(
            "A witness keeps what one opening of the databases acknowledges, and the recovery test opens \
             them several times.",
            "Leave --witness out, or run the performance test alone.",
        ));
    }
    Ok(())
}

/// The plan of a run, on databases that were `kept` if there are any. Those that it cannot run on are
/// refused before anything is done.
fn plan(
    options: &RunOptions,
    profile: &MailProfile,
    kept: Option<(&Claim, &[Kept])>,
) -> Result<MailPlan, Error> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = MailPlan::new(profile, processors);
    plan.run.build_only = options.build_only;
    plan.run.reuse = options.reuse;
    plan.run.together = options.together.clone();
    plan.run.warm_up = profile.run.warm_up.on_storage();
    if let (Some(backup), Some(path)) = (&mut plan.run.tests.backup, &options.backup_to) {
        backup.copied_to = path.display().to_string();
    }
    if !options.copy_to.is_empty() && !options.build_only {
        let places = options
            .copy_to
            .iter()
            .map(|path| path.display().to_string());
        let copied_to = places.collect::<Vec<_>>().join(", ");
        plan.run.tests.replication = Some(ReplicationPlan { copied_to });
    }
    let restored_from = options.restore.as_ref();
    plan.run.restored_from = restored_from.map(|path| path.display().to_string());
    if let Some((claim, kept)) = kept {
        plan.data_seed = kept::seed(claim, kept, &plan)?;
        if let Some(run) = &options.resume {
            go_on(&mut plan, run)?;
            let is_measured = plan.run.measured_length().as_ns() == 0;
            kept::refuse_other_run(claim, kept, run, is_measured)?;
        }
    }
    Ok(plan)
}

/// What a database notes of the run that works on it.
fn last_run(started: &str, interruptions: usize) -> String {
    format!("{started} {interruptions}")
}

/// Has the plan go on with a run that was interrupted: its sessions choose otherwise than at its begin.
fn go_on(plan: &mut MailPlan, run: &InterruptedRun) -> Result<(), Error> {
    let totals = run.totals.clone().of_layout(&plan.run.layout);
    let totals = totals.ok_or_else(|| {
        Error::usage(
            format!(
                "The samples in {} are of other databases or operations than its settings say.",
                run.directory.display()
            ),
            "'proofload verify' lists what differs.",
        )
    })?;
    let times = run.result.interruptions.len() as u64 + 1;
    plan.run.run.seed = derive(plan.run.run.seed, times);
    plan.run.interrupted = Some(Arc::new(InterruptedRun {
        totals,
        ..run.clone()
    }));
    Ok(())
}

impl MailRun {
    /// What is odd about the run, as sentences; empty when nothing is.
    fn warning(&self) -> String {
        let mix = self.profile.mail.mix.warning();
        let parts: Vec<String> = mix.into_iter().chain(self.restored.warning()).collect();
        parts.join(" ")
    }

    /// What is tested besides a load that is measured, of databases with so many bytes.
    fn planned_tests(&self, all_bytes: u64) -> PlannedTests {
        let tests = &self.plan.run.tests;
        let backup = tests.backup.as_ref();
        let replayed_bytes = tests.recovery.as_ref().map(|recovery| {
            let databases = u64::from(self.profile.mail.databases);
            databases * u64::from(recovery.log_files) * recovery.log_file_bytes
        });
        PlannedTests {
            without_measured_phase: tests.without_measured_phase,
            backup_bytes: backup.map_or(0, |_| all_bytes),
            backup_under_load: backup.is_some_and(|backup| backup.under_load),
            with_copies: backup.is_some_and(|backup| !backup.copied_to.is_empty()),
            replayed_bytes: replayed_bytes.unwrap_or(0),
            seeded_bytes: tests.replication.as_ref().map_or(0, |_| all_bytes),
        }
    }
}

impl StorageRun for MailRun {
    fn describe(&self) -> Result<String, Error> {
        describe::describe(&self.targets, &self.profile)
    }

    fn work(&self) -> Result<PlannedWork, Error> {
        let mail = &self.profile.mail;
        let ready = match (&self.resumed, self.targets.kept()) {
            (Some(build), _) => build.complete_databases,
            (None, Some(_)) => u64::from(mail.databases),
            (None, None) => 0,
        };
        let all_bytes = self.begin_bytes;
        let verifies = self.profile.run.verify_after_run;
        Ok(PlannedWork {
            build_bytes: (u64::from(mail.databases) - ready) * mail.database_bytes(),
            restored_bytes: self.restored.bytes,
            resumed_build: self.resumed.as_ref().map(interrupted_build::describe),
            kept_bytes: 0,
            compared_bytes: 0,
            build_only: self.plan.run.build_only,
            search: PlannedSearch::of(&self.plan.run),
            verification: "verification",
            verified_bytes: if verifies { all_bytes } else { 0 },
            fills_caches: true,
            tests: self.planned_tests(all_bytes),
            left_of_measured_phase: (self.plan.run.interrupted.as_ref())
                .map(|_| self.plan.run.measured_length()),
            warning: self.warning(),
        })
    }

    fn run(
        self: Box<Self>,
        observer: Box<dyn Observer>,
        stop: StopRequest,
    ) -> Result<Outcome, Error> {
        let Self {
            targets,
            profile,
            plan,
            resumed,
            restored,
            ..
        } = *self;
        let (on, name) = (targets.options().on.clone(), targets.request().name.clone());
        let afterwards = Afterwards {
            examined_by: EXAMINED_BY,
            can_resume: true,
            unfinished: &|| interrupted_build::unfinished_on(&on, &name),
            hindrance: &|| interrupted_build::hindrance_on(&on, &name),
        };
        targets.run(&profile, observer, &stop, &afterwards, |begun| {
            run(plan, (resumed, restored.warning()), begun)
        })
    }
}

/// Runs a plan to its end, one thread per CPU.
fn run(
    plan: MailPlan,
    (resumed, warning): (Option<ResumedBuild>, Option<String>),
    begun: Begun<'_>,
) -> measure::result::RunResult {
    let Begun {
        places,
        copies,
        sources,
        passive_copies,
        mut base,
        monitor,
        stop,
        witness,
        listener,
    } = begun;
    if let Some(build) = &resumed {
        let built = interrupted_build::describe(build);
        listener.note(&format!(
            "going on with a build that was interrupted: {built}; what is there of the others is read \
             and compared"
        ));
    }
    base.resumed_build = resumed.or(base.resumed_build);
    base.warnings.extend(warning);
    let run = plan.run.clone();
    let last_run = last_run(&base.started, base.interruptions.len());
    let plan = Arc::new(MailPlan { last_run, ..plan });
    if !run.build_only {
        base.tests = plan.profile.tests();
    }
    let all = AllPlaces {
        active: places,
        backup: copies,
        sources,
        passive: passive_copies,
    };
    let make = move |shard| host(shard, &plan, &all, witness.clone());
    run_on_threads(run, base, Some(monitor), stop, listener, make)
}

/// Where the databases of a run and their copies are.
struct AllPlaces {
    active: Places,
    /// The copies that a backup makes.
    backup: Option<Places>,
    /// The copies that are restored.
    sources: Option<Places>,
    passive: Option<Places>,
}

/// The runtime and the databases of one shard.
fn host(
    shard: usize,
    plan: &Arc<MailPlan>,
    places: &AllPlaces,
    witness: Option<Sender>,
) -> Result<(Runtime, EdbHost<AnyDirectory>), Failure> {
    let runtime = wall_clock(plan.run.run.io_driver)?;
    let databases = &plan.run.shards[shard];
    let directories = open_all(&runtime, &places.active, databases)?;
    let open = |copies: &Option<Places>| match copies {
        Some(copies) => open_all(&runtime, copies, databases),
        None => Ok(BTreeMap::new()),
    };
    let host = EdbHost::new(runtime.handle(), Arc::clone(plan), directories);
    let host = host.copying_to(open(&places.backup)?);
    let host = host.restoring_from(open(&places.sources)?);
    let host = host.replicating_to(open(&places.passive)?);
    let host = host.notifying(witness.map(audit::reporting_to));
    let host = host.following_memory(memory::spare_memory(plan.profile.mail.databases));
    Ok((runtime, host))
}

/// The directories of these databases, by their numbers in the run.
fn open_all(
    runtime: &Runtime,
    places: &Places,
    databases: &[usize],
) -> Result<BTreeMap<usize, DatabaseDirectories<AnyDirectory>>, Failure> {
    let open = |&database: &usize| {
        let OpenedPlace { data, log } = places.open(runtime, database)?;
        Ok((database, DatabaseDirectories { data, log }))
    };
    databases.iter().map(open).collect()
}
