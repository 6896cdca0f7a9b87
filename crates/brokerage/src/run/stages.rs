//! The stages of a run on a real database.

use super::arrivals::Due;
use super::client_threads::{self, Thread, panicked};
use super::context::{RunContext, failure};
use super::final_checks::Earlier;
use super::loading;
use super::market_workers::{self, ActionQueue};
use super::monitor::sampler::ServerSampler;
use super::server_process::ServerProcesses;
use super::shard_link::{ONLY_SHARD, ShardLink, StageHandler};
use super::user;
use super::volume::Volume;
use crate::database::{Database, LockError, RunLock, State, seal};
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::ledger::Ledger;
use crate::parallel::lock;
use measure::sample::Phase;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use workload::controller::RunPlan;
use workload::controller::link::{CacheState, ShardMessage, Stage};
use workload::failure::{Failure, FailureKind};
use workload::random::SeededRng;

mod checks;

pub use super::parameters::{Findings, RunParameters};

/// Random stream of the arrivals.
const ARRIVALS_STREAM: u64 = 1 << 34;

/// A run on a real database: its clients, market and sampler.
pub struct BrokerageRun {
    link: Arc<ShardLink>,
    plan: Arc<RunPlan>,
    parameters: RunParameters,
    database: Arc<dyn Database>,
    data_set: DataSet,
    volume: Mutex<Volume>,
    context: Mutex<Option<Arc<RunContext>>>,
    clients: Mutex<Vec<Thread>>,
    arrivals: Mutex<Option<Arc<Due>>>,
    sampler: Mutex<Option<Arc<ServerSampler>>>,
    ledger: Arc<Ledger>,
    before: Mutex<Option<Earlier>>,
    run_lock: Arc<Mutex<Option<Box<dyn RunLock>>>>,
    findings: Mutex<Findings>,
}

impl BrokerageRun {
    /// A run that has not begun.
    #[must_use]
    pub fn new(
        link: Arc<ShardLink>,
        plan: Arc<RunPlan>,
        parameters: RunParameters,
        database: Arc<dyn Database>,
        data_set: DataSet,
        volume: Volume,
        ledger: Ledger,
    ) -> Self {
        Self {
            link,
            plan,
            parameters,
            database,
            data_set,
            volume: Mutex::new(volume),
            context: Mutex::default(),
            clients: Mutex::default(),
            arrivals: Mutex::default(),
            sampler: Mutex::default(),
            ledger: Arc::new(ledger),
            before: Mutex::default(),
            run_lock: Arc::default(),
            findings: Mutex::default(),
        }
    }

    /// With the lock on a database that is there already.
    #[must_use]
    pub fn holding(self, run_lock: Option<Box<dyn RunLock>>) -> Self {
        *lock(&self.run_lock) = run_lock;
        self
    }

    /// The results; to be called once, after the run.
    #[must_use]
    pub fn findings(&self) -> Findings {
        std::mem::take(&mut *lock(&self.findings))
    }

    fn build(&self) -> Result<(), Failure> {
        let of = |error: &DatabaseError| failure(error, "building the brokerage");
        let state = self.database.state().map_err(|error| of(&error))?;
        if state == State::Absent {
            let seed = self.plan.run.seed;
            let threads = self.parameters.loading_threads;
            let mut lock_it = || self.take_lock();
            let built = loading::build(
                &*self.database,
                &self.data_set,
                seed,
                threads,
                &self.link,
                &mut lock_it,
            );
            built.map_err(|error| at_start(&error, "building the brokerage"))?;
            if self.plan.build_only {
                self.seal().map_err(|error| of(&error))?;
            }
        } else {
            self.check_at_rest()?;
        }
        let size_bytes = self.database.size_bytes().map_err(|error| of(&error))?;
        self.link.counts().database_size(ONLY_SHARD, size_bytes);
        lock(&self.findings).built_bytes = size_bytes;
        Ok(())
    }

    /// Takes the lock of a database that was just created.
    fn take_lock(&self) -> Result<(), DatabaseError> {
        let taken = self.database.lock().map_err(|error| match error {
            LockError::Held(_) => DatabaseError::Refused(error.to_string()),
            LockError::Database(error) => error,
        })?;
        *lock(&self.run_lock) = Some(taken);
        Ok(())
    }

    fn open(&self) -> Result<(), Failure> {
        (self.parameters.is_built)();
        let opened = self.repeat("the database was opened", drop, |(): &mut ()| {
            self.open_database()
        });
        let (context, note) = opened.map_err(|error| at_start(&error, "opening the brokerage"))?;
        if !note.is_empty() {
            self.link.note(note);
        }
        let process = self.parameters.sessions_process.clone();
        *lock(&context.server) = ServerProcesses::of(process);
        self.examine_files();
        *lock(&self.context) = Some(Arc::new(context));
        // The fill level of a server's cache is unknown: the warm-up is as long as the profile
        // says.
        self.link
            .report(ShardMessage::Caches(CacheState::of_fill(1.0)));
        Ok(())
    }

    /// Each step gives the same when it is repeated.
    fn open_database(&self) -> Result<(RunContext, String), DatabaseError> {
        seal::remove(&*self.database)?;
        let opened = RunContext::open(
            Arc::clone(&self.link),
            Arc::clone(&self.database),
            Arc::clone(&self.ledger),
            self.data_set,
            (&self.parameters.brokerage, self.parameters.volumes.clone()),
            self.plan.run.seed,
        )?;
        let mut session = self.database.connect()?;
        let earlier = Earlier::note(&mut *session, self.all_rows(true));
        *lock(&self.before) = Some(earlier?);
        Ok(opened)
    }

    fn start(&self) {
        let Some(context) = lock(&self.context).clone() else {
            return;
        };
        context.set_open(true);
        let seed = self.plan.run.seed;
        let run = &self.plan.run;
        let arrivals = self.parameters.transactions_per_second.map(|per_second| {
            let rng = SeededRng::new(seed, ARRIVALS_STREAM);
            Arc::new(Due::new(
                per_second,
                run.arrivals,
                rng,
                context.link.now_ns(),
            ))
        });
        lock(&self.arrivals).clone_from(&arrivals);
        let users = self.parameters.brokerage.users;
        let queue = Arc::new(ActionQueue::default());
        let of_users = (0..users).map(|number| {
            let (context, arrivals) = (Arc::clone(&context), arrivals.clone());
            client_threads::work(move || async move {
                user::work(&context, number, seed, arrivals.as_deref()).await;
            })
        });
        let of_workers = (0..market_workers::worker_count(users)).map(|number| {
            let (context, queue) = (Arc::clone(&context), Arc::clone(&queue));
            client_threads::work(move || async move {
                market_workers::work(&context, &queue, number, seed).await;
            })
        });
        let sampler = Arc::new(ServerSampler::new(
            Arc::clone(&context),
            Arc::clone(&self.parameters.revive),
        ));
        *lock(&self.sampler) = Some(Arc::clone(&sampler));
        let mut threads = lock(&self.clients);
        let shares = self.database.shares_threads();
        let started = client_threads::spawn_clients(
            of_users.chain(of_workers).collect(),
            shares,
            &self.link,
            &mut threads,
        );
        let (run_lock, of_lock) = (Arc::clone(&self.run_lock), Arc::clone(&context));
        let lock_thread = thread::Builder::new().name("proofload-lock".to_owned());
        let lock_thread = lock_thread.spawn(move || {
            keep_lock(&run_lock, &of_lock);
            None
        });
        let started = started.and(lock_thread.map(|thread| threads.push(thread)));
        let watches = thread::Builder::new().name("proofload-watcher".to_owned());
        let watches = watches.spawn(move || {
            sampler.work();
            None
        });
        if let Err(error) = started.and(watches.map(|thread| threads.push(thread))) {
            self.link.fail(no_thread(&error));
        }
    }

    /// Finds out whether the files of the server are on the storage that is measured.
    fn examine_files(&self) {
        if let Some(placement) = &self.parameters.placement {
            let found = placement.examine(&*self.database);
            lock(&self.findings).files.extend(found);
        }
    }

    fn measure(&self) {
        if let Some(context) = lock(&self.context).as_ref() {
            context.error_counts.begin();
            lock(&context.outages).begin_measuring(self.link.now_ns());
        }
        lock(&self.volume).begin_measurement();
        if let Some(sampler) = lock(&self.sampler).as_ref() {
            sampler.set_measuring(true);
        }
    }

    fn close(&self) {
        let sampler = lock(&self.sampler).take();
        if let Some(sampler) = &sampler {
            sampler.set_measuring(false);
        }
        let Some(context) = lock(&self.context).clone() else {
            return;
        };
        lock(&self.findings).transactions = context.error_counts.counts();
        lock(&context.outages).end_measuring(self.link.now_ns());
        context.set_open(false);
        // Tables may have been moved meanwhile. Nothing is locked while the server is asked.
        self.examine_files();
        let mut findings = lock(&self.findings);
        let mut busiest: f64 = 0.0;
        for thread in lock(&self.clients).drain(..) {
            match thread.join() {
                Ok(busy) => busiest = busiest.max(busy.unwrap_or(0.0)),
                Err(_) => self.link.fail(panicked()),
            }
        }
        findings.warnings.extend(client_threads::warning(busiest));
        findings.outages = lock(&context.outages).all(self.link.now_ns());
        if let Some(sampler) = sampler {
            let samples = sampler.samples();
            findings.waits = samples.waits;
            findings.counted = samples.counted;
            findings.ended_bytes = samples.size_bytes;
            findings.not_guaranteed = samples.not_guaranteed;
            findings.altered_tables = samples.altered_tables;
            findings.other_databases = samples.other_databases;
        }
        let volume = lock(&self.volume);
        findings.volume_measured_by = volume.measured_by().to_owned();
        findings.warnings.extend(volume.warning());
        findings.other_io = volume.other_io();
        findings.cpu_percent = volume.server_cpu_percent();
        findings.log_writes = volume.log_writes();
        findings.unmeasured_log = volume.unmeasured_log().map(Path::to_owned);
    }
}

/// Keeps the lock of the run until the load ends: a server that was restarted has forgotten it.
fn keep_lock(run_lock: &Mutex<Option<Box<dyn RunLock>>>, context: &RunContext) {
    const EVERY: Duration = Duration::from_secs(1);
    const POLL: Duration = Duration::from_millis(100);
    let mut looked = Instant::now();
    while context.is_open() {
        thread::sleep(POLL);
        if looked.elapsed() < EVERY {
            continue;
        }
        looked = Instant::now();
        let kept = lock(run_lock).as_mut().map(|held| held.keep());
        // A server that does not answer is noticed by the users.
        if let Some(Err(error @ LockError::Held(_))) = kept {
            let refused = DatabaseError::Refused(error.to_string());
            context.fail(&refused, "keeping the lock of the run");
        }
    }
}

/// The failure of what comes before the load, which may have been asked to stop.
fn at_start(error: &DatabaseError, doing: &str) -> Failure {
    let failure = failure(error, doing);
    match loading::is_stop(error) {
        true => Failure {
            kind: FailureKind::Stopped,
            integrity: None,
            ..failure
        },
        false => failure,
    }
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure {
        operation: "starting the users".to_owned(),
        error: format!("the system allows no more threads ({error}): reduce --users"),
        ..panicked()
    }
}

impl BrokerageRun {
    /// Begins a phase; I/O of the volume up to now belongs to the one before. Nothing else is done
    /// before that, as users count until then.
    fn begin_phase(&self, phase: Phase) {
        lock(&self.volume).expect_turn();
        self.count_volume();
        self.link.begin_phase(phase);
    }

    fn count_volume(&self) {
        // I/O of the build is not part of the load.
        if lock(&self.context).is_some() {
            let mut counts = self.link.counts();
            lock(&self.volume).count(self.link.now_ns(), &mut counts);
        } else {
            lock(&self.volume).skip();
        }
    }
}

impl StageHandler for BrokerageRun {
    fn link(&self) -> &ShardLink {
        &self.link
    }

    fn run_stage(&self, stage: Stage) -> Result<(), Failure> {
        match stage {
            Stage::Build => return self.build(),
            Stage::Open => return self.open(),
            Stage::WarmUp => {
                self.link.begin_phase(Phase::WarmUp);
                if !self.link.has_failed() {
                    self.start();
                }
            }
            Stage::Tune => self.begin_phase(Phase::Tuning),
            Stage::Measure => {
                self.begin_phase(Phase::Measured);
                self.measure();
            }
            Stage::Close => {
                self.begin_phase(Phase::Close);
                self.close();
                // A stopped run is checked, too.
                return self.check_database();
            }
            Stage::Restore
            | Stage::Backup
            | Stage::CheckCopies
            | Stage::WriteLog
            | Stage::Leave
            | Stage::Replay
            | Stage::Seed
            | Stage::CompareCopies => {
                return Err(Failure::unsupported("testing backup or recovery"));
            }
            Stage::Verify => self.link.begin_phase(Phase::Checksum),
            Stage::End => {}
        }
        Ok(())
    }

    fn poll(&self) {
        self.ledger.write_if_due();
        self.count_volume();
        if let Some(context) = lock(&self.context).as_ref() {
            lock(&context.server).look();
        }
        if let Some(due) = lock(&self.arrivals).as_ref() {
            let (shed, waiting) = due.backlog();
            self.link.report(ShardMessage::Backlog { shed, waiting });
        }
    }

    fn sample_state(&self) {
        let sampler = lock(&self.sampler).clone();
        if let Some(size_bytes) = sampler.and_then(|sampler| sampler.samples().size_bytes) {
            self.link.counts().database_size(ONLY_SHARD, size_bytes);
        }
    }
}
