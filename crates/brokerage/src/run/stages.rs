//! The stages of a run on a real database.

use super::arrivals::Due;
use super::client_threads::{self, Thread, panicked};
use super::context::{RunContext, failure};
use super::loading;
use super::market_workers::{self, ActionQueue};
use super::monitor::sampler::ServerSampler;
use super::monitor::statistics::CounterDeltas;
use super::monitor::waits::Waits;
use super::shard_link::{ONLY_SHARD, ShardLink, StageHandler};
use super::user;
use super::volume::Volume;
use crate::checks::{self, Before, CONSISTENCY_CHECKS, CheckReport, Rule};
use crate::database::{Database, State};
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::parallel::lock;
use crate::profile::Brokerage;
use crate::session::Session;
use measure::result::{ConsistencyCheck, OutageResult, TransactionCounts};
use measure::sample::Phase;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use workload::controller::RunPlan;
use workload::controller::link::{ShardMessage, Stage};
use workload::failure::{Failure, FailureKind};
use workload::random::SeededRng;

/// Random stream of the arrivals.
const ARRIVALS_STREAM: u64 = 1 << 34;

/// Parameters of a run, in addition to the plan.
#[derive(Clone)]
pub struct RunParameters {
    /// The settings of users, market and database.
    pub brokerage: Brokerage,
    /// Called when the database is built, before the load begins.
    pub is_built: Arc<dyn Fn() + Send + Sync>,
    /// Called again and again while the server is down: restarts it if it is our own.
    pub revive: Arc<dyn Fn() + Send + Sync>,
    /// Target rate of users' transactions; without one each user begins the next when the last is
    /// done.
    pub transactions_per_second: Option<f64>,
    /// Threads that load rows and create indexes.
    pub loading_threads: usize,
}

/// Results of a run, in addition to the counts.
#[derive(Debug, Default)]
pub struct Findings {
    /// Bytes of the database before the run.
    pub built_bytes: u64,
    /// Bytes of the database at the end.
    pub ended_bytes: Option<u64>,
    /// Wait events sampled during the measurement.
    pub waits: Waits,
    /// Differences of the server's counters.
    pub counted: CounterDeltas,
    /// Failed attempts during the measurement, by cause.
    pub transactions: TransactionCounts,
    /// Outages of the server.
    pub outages: Vec<OutageResult>,
    /// Results of the consistency checks.
    pub books: Vec<ConsistencyCheck>,
    /// How the volume's requests were measured.
    pub volume_measured_by: String,
    /// What limits the validity of the figures.
    pub warnings: Vec<String>,
}

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
    before: Mutex<Option<Before>>,
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
            before: Mutex::default(),
            findings: Mutex::default(),
        }
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
            let built = loading::build(&*self.database, &self.data_set, seed, threads, &self.link);
            match built {
                Err(error) if loading::is_stop(&error) => {
                    return Err(Failure {
                        kind: FailureKind::Stopped,
                        ..of(&error)
                    });
                }
                built => built.map_err(|error| of(&error))?,
            }
        }
        let size_bytes = self.database.size_bytes().map_err(|error| of(&error))?;
        self.link.counts().database_size(ONLY_SHARD, size_bytes);
        lock(&self.findings).built_bytes = size_bytes;
        Ok(())
    }

    fn open(&self) -> Result<(), Failure> {
        (self.parameters.is_built)();
        let of = |error: DatabaseError| failure(&error, "opening the brokerage");
        let (link, database) = (Arc::clone(&self.link), Arc::clone(&self.database));
        let (context, note) = RunContext::open(
            link,
            database,
            self.data_set,
            &self.parameters.brokerage,
            self.plan.run.seed,
        )
        .map_err(of)?;
        if !note.is_empty() {
            self.link.note(note);
        }
        let mut session = self.database.connect().map_err(of)?;
        *lock(&self.before) = Some(Before::note(&mut *session).map_err(of)?);
        *lock(&self.context) = Some(Arc::new(context));
        // The fill level of a server's cache is unknown: the warm-up is as long as the profile
        // says.
        self.link.report(ShardMessage::CacheFill(1.0));
        Ok(())
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
        let of_hands = (0..market_workers::worker_count(users)).map(|number| {
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
        let hired = client_threads::spawn_clients(
            of_users.chain(of_hands).collect(),
            shares,
            &self.link,
            &mut threads,
        );
        let watches = thread::Builder::new().name("proofload-watcher".to_owned());
        let watches = watches.spawn(move || {
            sampler.work();
            None
        });
        if let Err(error) = hired.and(watches.map(|thread| threads.push(thread))) {
            self.link.fail(no_thread(&error));
        }
    }

    fn measure(&self) {
        if let Some(context) = lock(&self.context).as_ref() {
            context.error_counts.begin();
        }
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
        let mut findings = lock(&self.findings);
        findings.transactions = context.error_counts.counts();
        context.set_open(false);
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
        }
        let volume = lock(&self.volume);
        findings.volume_measured_by = volume.measured_by().to_owned();
        findings.warnings.extend(volume.warning());
    }

    /// Runs the consistency checks. A server that was down may need a while to recover.
    fn check_consistency(&self) -> Result<(), Failure> {
        let of = |error: &DatabaseError| failure(error, "checking consistency");
        let Some(before) = lock(&self.before).take() else {
            return Ok(());
        };
        self.link
            .report(ShardMessage::Doing("checking consistency".to_owned()));
        let mut session = self.wait_for_server().map_err(|error| of(&error))?;
        /// Faster checks report no progress.
        const REPORT_EVERY: Duration = Duration::from_secs(2);
        let mut reported = Instant::now();
        let mut report = |done: usize| {
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                let (check, checks) = (done + 1, CONSISTENCY_CHECKS.len());
                let doing = format!("consistency checks, {check} of {checks}");
                self.link.report(ShardMessage::Doing(doing));
            }
        };
        let outcome = checks::check_with_progress(&mut *session, &before, &mut report);
        let outcome = outcome.map_err(|error| of(&error))?;
        lock(&self.findings).books = check_results(&outcome);
        let Some(error) = outcome.summary() else {
            return Ok(());
        };
        Err(Failure {
            kind: FailureKind::Inconsistent,
            file: "the brokerage database".to_owned(),
            page: None,
            operation: "checking consistency".to_owned(),
            error,
        })
    }

    fn wait_for_server(&self) -> Result<Box<dyn Session>, DatabaseError> {
        const TIMEOUT: Duration = Duration::from_secs(120);
        let started = Instant::now();
        let mut is_reported = false;
        loop {
            match self.database.connect() {
                Err(DatabaseError::Unavailable(why)) if started.elapsed() < TIMEOUT => {
                    if !std::mem::replace(&mut is_reported, true) {
                        self.link.note(format!(
                            "Consistency is checked when the server is back; it has {} s for \
                             that: {why}.",
                            TIMEOUT.as_secs()
                        ));
                    }
                    (self.parameters.revive)();
                    thread::sleep(Duration::from_millis(200));
                }
                answered => return answered,
            }
        }
    }
}

/// The result of every consistency check.
fn check_results(report: &CheckReport) -> Vec<ConsistencyCheck> {
    let result = |(name, rule): &Rule| {
        let mut violations = report.violations.iter();
        let violation = violations.find(|violation| violation.check == *name);
        ConsistencyCheck {
            rule: (*rule).to_owned(),
            passed: violation.is_none(),
            found: violation.map_or_else(|| "ok".to_owned(), |found| found.message.clone()),
        }
    };
    CONSISTENCY_CHECKS.iter().map(result).collect()
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure {
        operation: "starting the users".to_owned(),
        error: format!("the system allows no more threads ({error}): reduce --users"),
        ..panicked()
    }
}

impl BrokerageRun {
    /// Begins a phase; I/O of the volume up to now belongs to the one before.
    fn begin_phase(&self, phase: Phase) {
        lock(&self.volume).expect_turn();
        self.poll();
        self.link.begin_phase(phase);
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
                return self.check_consistency();
            }
            Stage::Verify => self.link.begin_phase(Phase::Checksum),
            Stage::End => {}
        }
        Ok(())
    }

    fn poll(&self) {
        // I/O of the build is not part of the load.
        if lock(&self.context).is_some() {
            let mut counts = self.link.counts();
            lock(&self.volume).count(self.link.now_ns(), &mut counts);
        } else {
            lock(&self.volume).skip();
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
