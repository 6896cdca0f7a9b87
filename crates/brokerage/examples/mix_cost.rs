//! The client's cost of the transaction mix: round trips and CPU time per transaction, by the first
//! statement of each.
//!
//! Usage: `mix_cost [SECONDS [USERS [TURNS [THINK_MS]]]]`. It starts a PostgreSQL server with more
//! memory than the data set needs, runs users and market workers on it as in a run, and prints the
//! cost after each turn. A run waits for storage; here users have a think time instead, so that
//! sessions sleep and wake up about as often.

use std::collections::BTreeMap;
use std::error::Error;
use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use brokerage::database::postgres::Cluster;
use brokerage::database::postgres::cluster::Settings;
use brokerage::database::{
    Build, Database, Loader, LockError, RunLock, Server, State, Step, TableDigests, TablePart,
    finish,
};
use brokerage::dataset::DataSet;
use brokerage::error::DatabaseError;
use brokerage::generator::Generator;
use brokerage::ledger::Ledger;
use brokerage::profile::Brokerage;
use brokerage::row::Answers;
use brokerage::run::client_threads;
use brokerage::run::context::RunContext;
use brokerage::run::full_volume::Volumes;
use brokerage::run::market_workers::{self, ActionQueue};
use brokerage::run::shard_link::{ONLY_SHARD, ShardLink};
use brokerage::run::user;
use brokerage::schema::{TABLES, Table};
use brokerage::session::{AfterBatch, Answering, Call, Isolation, Session};
use brokerage::statement::Dialect;
use config::TimeSpan;
use measure::sample::{Phase, Recorder};
use rustix::time::{ClockId, clock_gettime};
use workload::controller::link::{Inbox, Orders};

const SEED: u64 = 5;
const WARM_UP: Duration = Duration::from_secs(4);

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let seconds = numbers.next().transpose()?.unwrap_or(10);
    let users = numbers.next().transpose()?.unwrap_or(30);
    let turns = numbers.next().transpose()?.unwrap_or(1);
    let think_ms = numbers.next().transpose()?.unwrap_or(30);
    let room = tempfile::tempdir()?;
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o711))?;
    let mut settings = Settings::with_memory(512 << 20);
    settings.connections = users + market_workers::worker_count(users) + 10;
    let mut cluster = Cluster::start(&room.path().join("server"), &settings)?;
    let counted = Arc::new(Counted {
        database: Box::new(cluster.database()?),
        counts: Arc::default(),
    });
    let data_set = DataSet::new(1_000, 1, SEED);
    build(&*counted.database, data_set)?;
    let mut brokerage = Brokerage {
        users,
        think_time: TimeSpan::millis(u64::from(think_ms)),
        ..Brokerage::default()
    };
    // Prices change often enough for pending orders to be triggered.
    brokerage.market.price_period = TimeSpan::seconds(20);
    work(&counted, data_set, &brokerage, seconds, turns)?;
    cluster.remove()?;
    Ok(())
}

fn build(database: &dyn Database, data_set: DataSet) -> Result<(), DatabaseError> {
    database.create(&Build::new(
        data_set.customers(),
        data_set.trade_days(),
        data_set.seed(),
    ))?;
    let generator = Generator::new(data_set);
    let mut loader = database.loader()?;
    for table in &TABLES {
        for part in 0..generator.parts(table.name) {
            loader.begin(table.name)?;
            generator.write(table.name, part, &mut *loader)?;
            loader.end()?;
        }
    }
    drop(loader);
    finish(database, 2, &|_| true)?;
    database.mark_ready()
}

/// Runs all clients, and prints the cost of each turn.
fn work(
    counted: &Arc<Counted>,
    data_set: DataSet,
    brokerage: &Brokerage,
    seconds: u32,
    turns: u32,
) -> Result<(), Box<dyn Error>> {
    let layout = Arc::new(brokerage::operation::layout());
    let started = Instant::now();
    let recorder = Recorder::new(layout, ONLY_SHARD, Phase::Measured, 0);
    let orders = Orders::new(1_000_000_000);
    orders.set_sessions(brokerage.users);
    let link = Arc::new(ShardLink::new(orders, Inbox::default(), recorder, started));
    let database: Arc<dyn Database> = Arc::clone(counted) as _;
    let ledger = Arc::new(Ledger::unnamed()?);
    let (context, _) = RunContext::open(
        link,
        database,
        ledger,
        data_set,
        (brokerage, Volumes::default()),
        SEED,
    )?;
    let desk = Arc::new(ActionQueue::default());
    context.set_open(true);
    let context = Arc::new(context);
    let users = (0..brokerage.users).map(|number| {
        let context = Arc::clone(&context);
        client_threads::work(move || async move { user::work(&context, number, SEED, None).await })
    });
    let market_workers = (0..market_workers::worker_count(brokerage.users)).map(|number| {
        let (context, desk) = (Arc::clone(&context), Arc::clone(&desk));
        client_threads::work(move || async move {
            market_workers::work(&context, &desk, number, SEED).await;
        })
    });
    let mut threads = Vec::new();
    let people = users.chain(market_workers).collect();
    client_threads::spawn_clients(
        people,
        counted.shares_threads(),
        &context.link,
        &mut threads,
    )?;
    std::thread::sleep(WARM_UP);
    for turn in 0..turns {
        counted.take();
        let before = Used::now();
        std::thread::sleep(Duration::from_secs(u64::from(seconds)));
        let after = Used::now();
        print_figures(turn, f64::from(seconds), &counted.take(), &before, &after);
    }
    context.set_open(false);
    for thread in threads {
        thread.join().map_err(|_| "a thread ended by a panic")?;
    }
    Ok(())
}

fn print_figures(turn: u32, seconds: f64, counts: &Counts, before: &Used, after: &Used) {
    println!(
        "turn {turn}:\n{:>52} {:>8} {:>9} {:>9} {:>10}",
        "first statement", "per s", "failed/s", "round trips", "us to ask"
    );
    let mut all = Count::default();
    for ((name, isolation), count) in counts {
        println!(
            "{name:>36} {:>15} {:>8.1} {:>9.1} {:>9.3} {:>10.1}",
            format!("{isolation:?}"),
            count.ended as f64 / seconds,
            count.failed as f64 / seconds,
            count.round_trips as f64 / count.ended as f64,
            count.processor_us / count.ended as f64
        );
        all.ended += count.ended;
        all.failed += count.failed;
        all.round_trips += count.round_trips;
        all.processor_us += count.processor_us;
    }
    let (ended, round_trips) = (all.ended as f64, all.round_trips as f64);
    let (us, sleeps) = (
        after.processor_us - before.processor_us,
        (after.sleeps - before.sleeps) as f64,
    );
    println!(
        "{:.0} transactions a second, {:.1} failed; {:.3} round trips and {:.2} sleeps each; \
         {:.1} us each ({:.1} to ask), {:.1} us per round trip",
        ended / seconds,
        all.failed as f64 / seconds,
        round_trips / ended,
        sleeps / ended,
        us / ended,
        all.processor_us / ended,
        us / round_trips
    );
}

/// What this process has used so far.
struct Used {
    processor_us: f64,
    /// Context switches of its threads.
    sleeps: u64,
}

impl Used {
    fn now() -> Self {
        Self {
            processor_us: micros(ClockId::ProcessCPUTime),
            sleeps: sleeps().unwrap_or(0),
        }
    }
}

fn micros(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

fn sleeps() -> std::io::Result<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let status = std::fs::read_to_string(task?.path().join("status"))?;
        let count = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        sum += count.map_or(0, |count| count.trim().parse().unwrap_or(0));
    }
    Ok(sum)
}

type Counts = BTreeMap<(&'static str, String), Count>;

/// Transactions that begin with the same statement.
#[derive(Debug, Clone, Default)]
struct Count {
    ended: u64,
    failed: u64,
    round_trips: u64,
    processor_us: f64,
}

/// A database whose sessions count.
struct Counted {
    database: Box<dyn Database>,
    counts: Arc<Mutex<Counts>>,
}

impl Counted {
    fn take(&self) -> Counts {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *counts)
    }
}

struct CountedSession {
    session: Box<dyn Session>,
    started: Begun,
}

/// A transaction that was begun.
struct Begun {
    counts: Arc<Mutex<Counts>>,
    isolation: Isolation,
    first: Option<&'static str>,
    round_trips: u64,
    /// CPU time of its answers so far.
    processor_us: f64,
}

impl Begun {
    fn end(&mut self, has_failed: bool) {
        let Some(first) = self.first.take() else {
            return;
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts
            .entry((first, format!("{:?}", self.isolation)))
            .or_default();
        count.ended += u64::from(!has_failed);
        count.failed += u64::from(has_failed);
        count.round_trips += self.round_trips;
        count.processor_us += self.processor_us;
    }
}

impl Session for CountedSession {
    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError> {
        self.started.isolation = isolation;
        self.started.first = None;
        self.started.round_trips = 0;
        self.started.processor_us = 0.0;
        self.session.begin(isolation)
    }

    fn share_thread(&mut self) {
        self.session.share_thread();
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: AfterBatch,
    ) -> Answering<'answering, &'session Answers> {
        let name = calls.first().map(|call| call.statement.name);
        self.started.round_trips += 1;
        self.started.first = self.started.first.or(name);
        let (session, started) = (&mut self.session, &mut self.started);
        Box::pin(async move {
            let answers = timed(session.run(calls, then), &mut started.processor_us).await;
            if answers.is_err() || then == AfterBatch::Commit {
                started.end(answers.is_err());
            }
            answers
        })
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        let (session, started) = (&mut self.session, &mut self.started);
        started.round_trips += 1;
        Box::pin(async move {
            let rolled_back = timed(session.rollback(), &mut started.processor_us).await;
            started.end(rolled_back.is_err());
            rolled_back
        })
    }

    fn abandon(&mut self) {
        self.session.abandon();
        self.started.end(true);
    }
}

/// Adds up the CPU time that this thread spends on an answer, without that of other tasks that run
/// while the answer is pending.
async fn timed<T>(mut answering: Answering<'_, T>, used_us: &mut f64) -> Result<T, DatabaseError> {
    poll_fn(|context| {
        let started_us = micros(ClockId::ThreadCPUTime);
        let poll = answering.as_mut().poll(context);
        *used_us += micros(ClockId::ThreadCPUTime) - started_us;
        poll
    })
    .await
}

impl Database for Counted {
    fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    fn connect(&self) -> Result<Box<dyn Session>, DatabaseError> {
        Ok(Box::new(CountedSession {
            session: self.database.connect()?,
            started: Begun {
                counts: Arc::clone(&self.counts),
                isolation: Isolation::ReadCommitted,
                first: None,
                round_trips: 0,
                processor_us: 0.0,
            },
        }))
    }

    fn shares_threads(&self) -> bool {
        self.database.shares_threads()
    }

    fn server(&self) -> Result<Server, DatabaseError> {
        self.database.server()
    }

    fn state(&self) -> Result<State, DatabaseError> {
        self.database.state()
    }

    fn create(&self, build: &Build) -> Result<(), DatabaseError> {
        self.database.create(build)
    }

    fn loader(&self) -> Result<Box<dyn Loader>, DatabaseError> {
        self.database.loader()
    }

    fn post_load_steps(&self) -> Vec<Vec<Step>> {
        self.database.post_load_steps()
    }

    fn run_step(&self, step: &Step) -> Result<(), DatabaseError> {
        self.database.run_step(step)
    }

    fn cancel_steps(&self) -> Result<(), DatabaseError> {
        self.database.cancel_steps()
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        self.database.mark_ready()
    }

    fn tables_and_indexes(&self) -> Result<Vec<String>, DatabaseError> {
        self.database.tables_and_indexes()
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        self.database.size_bytes()
    }

    fn lock(&self) -> Result<Box<dyn RunLock>, LockError> {
        self.database.lock()
    }

    fn digests(
        &self,
        table: &Table,
        part: Option<&TablePart>,
    ) -> Result<TableDigests, DatabaseError> {
        self.database.digests(table, part)
    }

    fn check_indexes(&self, table: &Table, rows: u64) -> Result<Vec<String>, DatabaseError> {
        self.database.check_indexes(table, rows)
    }

    fn state_values(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        self.database.state_values()
    }

    fn set_state_values(&self, values: &[(String, String)]) -> Result<(), DatabaseError> {
        self.database.set_state_values(values)
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        self.database.remove()
    }
}
