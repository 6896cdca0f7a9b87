//! A house that goes through the stages of a run.

use super::arrivals::Due;
use super::crew::{self, Thread, panicked};
use super::floor::{Floor, failure};
use super::hands::{self, Desk};
use super::line::{Duties, FIRST, Line, lock};
use super::loading;
use super::user;
use super::volume::Volume;
use super::watch::statistics::Counted;
use super::watch::waits::Waits;
use super::watch::watcher::Watcher;
use crate::books::{self, Before, Checked, LAWS, Law};
use crate::database::{Database, State};
use crate::error::DatabaseError;
use crate::house::House;
use crate::session::Session;
use measure::result::{BookCheck, OutageResult, TransactionCounts};
use measure::sample::Phase;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use workload::controller::RunPlan;
use workload::controller::link::{News, Stage};
use workload::mail::store::{Failure, FailureKind};
use workload::random::Dice;

/// The stream of the seed for arrivals.
const ARRIVALS_STREAM: u64 = 1 << 34;

/// What a run was asked for, beside the plan.
#[derive(Clone)]
pub struct Wanted {
    /// Called when the house is built, before the load begins.
    pub is_built: Arc<dyn Fn() + Send + Sync>,
    /// Called again and again while the server does not serve: starts it anew if it is our own and
    /// has ended.
    pub revive: Arc<dyn Fn() + Send + Sync>,
    /// Transactions per second that users begin; without it each begins the next when it is done.
    pub transactions_per_second: Option<f64>,
    /// Threads that load rows and make indexes.
    pub loading_threads: usize,
}

/// What a house has found out beside the counts.
#[derive(Debug, Default)]
pub struct Findings {
    /// Bytes of the database before the run, and after.
    pub built_bytes: u64,
    /// Bytes of the database when it was last asked.
    pub ended_bytes: Option<u64>,
    /// What sessions were found doing.
    pub waits: Waits,
    /// What the server counted.
    pub counted: Counted,
    /// How attempts ended that did not end well.
    pub transactions: TransactionCounts,
    /// Times without service.
    pub outages: Vec<OutageResult>,
    /// The laws of the books.
    pub books: Vec<BookCheck>,
    /// How the requests of the volume were seen.
    pub volume_seen_by: String,
    /// What spoils the figures.
    pub warnings: Vec<String>,
}

/// A house in business: its people, its market and its watchers.
pub struct Business {
    line: Arc<Line>,
    plan: Arc<RunPlan>,
    wanted: Wanted,
    database: Arc<dyn Database>,
    house: House,
    volume: Mutex<Volume>,
    floor: Mutex<Option<Arc<Floor>>>,
    people: Mutex<Vec<Thread>>,
    arrivals: Mutex<Option<Arc<Due>>>,
    watcher: Mutex<Option<Arc<Watcher>>>,
    before: Mutex<Option<Before>>,
    findings: Mutex<Findings>,
}

impl Business {
    /// A house that has not begun.
    #[must_use]
    pub fn new(
        line: Arc<Line>,
        plan: Arc<RunPlan>,
        wanted: Wanted,
        database: Arc<dyn Database>,
        house: House,
        volume: Volume,
    ) -> Self {
        Self {
            line,
            plan,
            wanted,
            database,
            house,
            volume: Mutex::new(volume),
            floor: Mutex::default(),
            people: Mutex::default(),
            arrivals: Mutex::default(),
            watcher: Mutex::default(),
            before: Mutex::default(),
            findings: Mutex::default(),
        }
    }

    /// What was found out; to be asked once the run is over.
    #[must_use]
    pub fn findings(&self) -> Findings {
        std::mem::take(&mut *lock(&self.findings))
    }

    fn build(&self) -> Result<(), Failure> {
        let of = |error: &DatabaseError| failure(error, "building the brokerage");
        let state = self.database.state().map_err(|error| of(&error))?;
        if state == State::Absent {
            let seed = self.plan.profile.run.seed;
            let threads = self.wanted.loading_threads;
            let built = loading::build(&*self.database, &self.house, seed, threads, &self.line);
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
        self.line.counts().database_size(FIRST, size_bytes);
        lock(&self.findings).built_bytes = size_bytes;
        Ok(())
    }

    fn open(&self) -> Result<(), Failure> {
        (self.wanted.is_built)();
        let of = |error: DatabaseError| failure(&error, "opening the brokerage");
        let (line, database) = (Arc::clone(&self.line), Arc::clone(&self.database));
        let profile = &self.plan.profile;
        let (floor, note) = Floor::open(
            line,
            database,
            self.house,
            &profile.brokerage,
            profile.run.seed,
        )
        .map_err(of)?;
        if !note.is_empty() {
            self.line.note(note);
        }
        let mut session = self.database.connect().map_err(of)?;
        *lock(&self.before) = Some(Before::note(&mut *session).map_err(of)?);
        *lock(&self.floor) = Some(Arc::new(floor));
        // Nobody knows how full a server's memory is: the warm-up is as long as the profile says.
        self.line.report(News::CacheFill(1.0));
        Ok(())
    }

    fn start(&self) {
        let Some(floor) = lock(&self.floor).clone() else {
            return;
        };
        floor.set_open(true);
        let seed = self.plan.profile.run.seed;
        let run = &self.plan.profile.run;
        let arrivals = self.wanted.transactions_per_second.map(|per_second| {
            let dice = Dice::new(seed, ARRIVALS_STREAM);
            Arc::new(Due::new(
                per_second,
                run.arrivals,
                dice,
                floor.line.now_ns(),
            ))
        });
        lock(&self.arrivals).clone_from(&arrivals);
        let users = self.plan.profile.brokerage.users;
        let desk = Arc::new(Desk::default());
        let of_users = (0..users).map(|number| {
            let (floor, arrivals) = (Arc::clone(&floor), arrivals.clone());
            crew::work(move || async move {
                user::work(&floor, number, seed, arrivals.as_deref()).await;
            })
        });
        let of_hands = (0..hands::number_of(users)).map(|number| {
            let (floor, desk) = (Arc::clone(&floor), Arc::clone(&desk));
            crew::work(move || async move { hands::work(&floor, &desk, number, seed).await })
        });
        let watcher = Arc::new(Watcher::new(
            Arc::clone(&floor),
            Arc::clone(&self.wanted.revive),
        ));
        *lock(&self.watcher) = Some(Arc::clone(&watcher));
        let mut threads = lock(&self.people);
        let shares = self.database.shares_threads();
        let hired = crew::hire(
            of_users.chain(of_hands).collect(),
            shares,
            &self.line,
            &mut threads,
        );
        let watches = thread::Builder::new().name("proofload-watcher".to_owned());
        let watches = watches.spawn(move || {
            watcher.work();
            None
        });
        if let Err(error) = hired.and(watches.map(|thread| threads.push(thread))) {
            self.line.fail(no_thread(&error));
        }
    }

    fn measure(&self) {
        if let Some(floor) = lock(&self.floor).as_ref() {
            floor.tally.begin();
        }
        if let Some(watcher) = lock(&self.watcher).as_ref() {
            watcher.set_measuring(true);
        }
    }

    fn close(&self) {
        let watcher = lock(&self.watcher).take();
        if let Some(watcher) = &watcher {
            watcher.set_measuring(false);
        }
        let Some(floor) = lock(&self.floor).clone() else {
            return;
        };
        let mut findings = lock(&self.findings);
        findings.transactions = floor.tally.counts();
        floor.set_open(false);
        let mut busiest: f64 = 0.0;
        for thread in lock(&self.people).drain(..) {
            match thread.join() {
                Ok(busy) => busiest = busiest.max(busy.unwrap_or(0.0)),
                Err(_) => self.line.fail(panicked()),
            }
        }
        findings.warnings.extend(crew::caution(busiest));
        findings.outages = lock(&floor.outages).all(self.line.now_ns());
        if let Some(watcher) = watcher {
            let seen = watcher.seen();
            findings.waits = seen.waits;
            findings.counted = seen.counted;
            findings.ended_bytes = seen.size_bytes;
        }
        let volume = lock(&self.volume);
        findings.volume_seen_by = volume.seen_by().to_owned();
        findings.warnings.extend(volume.caution());
    }

    /// Checks the books. A server that was down may need a while to recover.
    fn check_books(&self) -> Result<(), Failure> {
        let of = |error: &DatabaseError| failure(error, "checking the books");
        let Some(before) = lock(&self.before).take() else {
            return Ok(());
        };
        self.line
            .report(News::Doing("checking the books".to_owned()));
        let mut session = self.wait_for_server().map_err(|error| of(&error))?;
        /// Laws that are looked at faster than this are not worth a word.
        const TELL_EVERY: Duration = Duration::from_secs(2);
        let mut told = Instant::now();
        let mut tell = |done: usize| {
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                let (law, laws) = (done + 1, LAWS.len());
                let doing = format!("checking the books, law {law} of {laws}");
                self.line.report(News::Doing(doing));
            }
        };
        let checked = books::check_telling(&mut *session, &before, &mut tell);
        let checked = checked.map_err(|error| of(&error))?;
        lock(&self.findings).books = laws(&checked);
        let Some(error) = checked.complaint() else {
            return Ok(());
        };
        Err(Failure {
            kind: FailureKind::Books,
            file: "the brokerage's database".to_owned(),
            page: None,
            operation: "checking the books".to_owned(),
            error,
        })
    }

    fn wait_for_server(&self) -> Result<Box<dyn Session>, DatabaseError> {
        const PATIENCE: Duration = Duration::from_secs(120);
        let begun = Instant::now();
        let mut is_told = false;
        loop {
            match self.database.connect() {
                Err(DatabaseError::Unavailable(why)) if begun.elapsed() < PATIENCE => {
                    if !std::mem::replace(&mut is_told, true) {
                        self.line.note(format!(
                            "The books are checked when the server is back; it has {} s for that: \
                             {why}.",
                            PATIENCE.as_secs()
                        ));
                    }
                    (self.wanted.revive)();
                    thread::sleep(Duration::from_millis(200));
                }
                answered => return answered,
            }
        }
    }
}

/// Each law of the books, and what was found of it.
fn laws(checked: &Checked) -> Vec<BookCheck> {
    let law = |(name, rule): &Law| {
        let broken = checked
            .broken
            .iter()
            .find(|broken| broken.invariant == *name);
        BookCheck {
            rule: (*rule).to_owned(),
            holds: broken.is_none(),
            found: broken.map_or_else(
                || "as it must be".to_owned(),
                |broken| broken.sentence.clone(),
            ),
        }
    };
    LAWS.iter().map(law).collect()
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure {
        operation: "starting the users".to_owned(),
        error: format!("the system gives no more threads ({error}): ask for fewer --users"),
        ..panicked()
    }
}

impl Business {
    /// Begins a phase; what the volume did until now counts to the one before.
    fn begin_phase(&self, phase: Phase) {
        lock(&self.volume).expect_turn();
        self.look_after();
        self.line.begin_phase(phase);
    }
}

impl Duties for Business {
    fn line(&self) -> &Line {
        &self.line
    }

    fn carry_out(&self, stage: Stage) -> Result<(), Failure> {
        match stage {
            Stage::Build => return self.build(),
            Stage::Open => return self.open(),
            Stage::WarmUp => {
                self.line.begin_phase(Phase::WarmUp);
                if !self.line.has_failed() {
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
                // Whoever was stopped wants to know, too, whether the books balance.
                return self.check_books();
            }
            Stage::Verify => self.line.begin_phase(Phase::Checksum),
            Stage::End => {}
        }
        Ok(())
    }

    fn look_after(&self) {
        // What building reads and writes is not the load's.
        if lock(&self.floor).is_some() {
            let mut counts = self.line.counts();
            lock(&self.volume).count(self.line.now_ns(), &mut counts);
        } else {
            lock(&self.volume).skip();
        }
        if let Some(due) = lock(&self.arrivals).as_ref() {
            let (shed, waiting) = due.backlog();
            self.line.report(News::Backlog { shed, waiting });
        }
    }

    fn note_state(&self) {
        let watcher = lock(&self.watcher).clone();
        if let Some(size_bytes) = watcher.and_then(|watcher| watcher.seen().size_bytes) {
            self.line.counts().database_size(FIRST, size_bytes);
        }
    }
}
