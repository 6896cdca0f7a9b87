//! What the real mix of transactions costs the program that makes it: journeys to the server and
//! processor time per transaction, by the first statement of each.
//!
//! Usage: `mix_cost [SECONDS [USERS [TURNS [THINK_MS]]]]`. It makes a PostgreSQL server of its own with
//! more memory than the books need, lets users and the market's hands work on it as in a run, and
//! tells after each turn what that took. A run waits for storage; here users wait a think time
//! instead, so that sessions go to sleep and wake up about as often.

use std::collections::BTreeMap;
use std::error::Error;
use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use brokerage::data::Generator;
use brokerage::database::postgres::Cluster;
use brokerage::database::postgres::cluster::Settings;
use brokerage::database::{Build, Database, Loader, Server, State, Step, finish};
use brokerage::error::DatabaseError;
use brokerage::house::House;
use brokerage::row::Answers;
use brokerage::run::crew;
use brokerage::run::floor::Floor;
use brokerage::run::hands::{self, Desk};
use brokerage::run::line::{FIRST, Line};
use brokerage::run::user;
use brokerage::schema::TABLES;
use brokerage::session::{Answering, Call, Isolation, Session, Then};
use brokerage::statement::Dialect;
use measure::sample::{Phase, Recorder};
use rustix::time::{ClockId, clock_gettime};
use workload::controller::link::{Inbox, Orders};
use workload::profile::Brokerage;
use workload::profile::TimeSpan;

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
    settings.connections = users + hands::number_of(users) + 10;
    let mut cluster = Cluster::start(&room.path().join("server"), &settings)?;
    let counted = Arc::new(Counted {
        database: Box::new(cluster.database()?),
        counts: Arc::default(),
    });
    let house = House::new(1_000, 1, SEED);
    build(&*counted.database, house)?;
    let mut brokerage = Brokerage {
        users,
        think_time: TimeSpan::millis(u64::from(think_ms)),
        ..Brokerage::default()
    };
    // Prices come and go often enough for waiting orders to be met.
    brokerage.market.price_period = TimeSpan::seconds(20);
    work(&counted, house, &brokerage, seconds, turns)?;
    cluster.remove()?;
    Ok(())
}

fn build(database: &dyn Database, house: House) -> Result<(), DatabaseError> {
    database.create(&Build::new(
        house.customers(),
        house.trade_days(),
        house.seed(),
    ))?;
    let generator = Generator::new(house);
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

/// Lets everybody work, and tells of each turn.
fn work(
    counted: &Arc<Counted>,
    house: House,
    brokerage: &Brokerage,
    seconds: u32,
    turns: u32,
) -> Result<(), Box<dyn Error>> {
    let layout = Arc::new(workload::brokerage::kinds::layout());
    let begun = Instant::now();
    let recorder = Recorder::new(layout, FIRST, Phase::Measured, 0);
    let orders = Orders::new(1_000_000_000);
    orders.set_sessions(brokerage.users);
    let line = Arc::new(Line::new(orders, Inbox::default(), recorder, begun));
    let database: Arc<dyn Database> = Arc::clone(counted) as _;
    let (floor, _) = Floor::open(line, database, house, brokerage, SEED)?;
    let desk = Arc::new(Desk::default());
    floor.set_open(true);
    let floor = Arc::new(floor);
    let users = (0..brokerage.users).map(|number| {
        let floor = Arc::clone(&floor);
        crew::work(move || async move { user::work(&floor, number, SEED, None).await })
    });
    let hands = (0..hands::number_of(brokerage.users)).map(|number| {
        let (floor, desk) = (Arc::clone(&floor), Arc::clone(&desk));
        crew::work(move || async move { hands::work(&floor, &desk, number, SEED).await })
    });
    let mut threads = Vec::new();
    let people = users.chain(hands).collect();
    crew::hire(people, counted.shares_threads(), &floor.line, &mut threads)?;
    std::thread::sleep(WARM_UP);
    for turn in 0..turns {
        counted.take();
        let before = Used::now();
        std::thread::sleep(Duration::from_secs(u64::from(seconds)));
        let after = Used::now();
        tell(turn, f64::from(seconds), &counted.take(), &before, &after);
    }
    floor.set_open(false);
    for thread in threads {
        thread.join().map_err(|_| "a thread ended by a panic")?;
    }
    Ok(())
}

fn tell(turn: u32, seconds: f64, counts: &Counts, before: &Used, after: &Used) {
    println!(
        "turn {turn}:\n{:>52} {:>8} {:>9} {:>9} {:>10}",
        "first statement", "per s", "failed/s", "journeys", "us to ask"
    );
    let mut all = Count::default();
    for ((name, isolation), count) in counts {
        println!(
            "{name:>36} {:>15} {:>8.1} {:>9.1} {:>9.3} {:>10.1}",
            format!("{isolation:?}"),
            count.ended as f64 / seconds,
            count.failed as f64 / seconds,
            count.journeys as f64 / count.ended as f64,
            count.processor_us / count.ended as f64
        );
        all.ended += count.ended;
        all.failed += count.failed;
        all.journeys += count.journeys;
        all.processor_us += count.processor_us;
    }
    let (ended, journeys) = (all.ended as f64, all.journeys as f64);
    let (us, sleeps) = (
        after.processor_us - before.processor_us,
        (after.sleeps - before.sleeps) as f64,
    );
    println!(
        "{:.0} transactions a second, {:.1} failed; {:.3} journeys and {:.2} sleeps each; \
         {:.1} us each ({:.1} to ask), {:.1} us per journey",
        ended / seconds,
        all.failed as f64 / seconds,
        journeys / ended,
        sleeps / ended,
        us / ended,
        all.processor_us / ended,
        us / journeys
    );
}

/// What this process has used so far.
struct Used {
    processor_us: f64,
    /// How often its threads went to sleep.
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
    journeys: u64,
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
    begun: Begun,
}

/// A transaction that was begun.
struct Begun {
    counts: Arc<Mutex<Counts>>,
    isolation: Isolation,
    first: Option<&'static str>,
    journeys: u64,
    /// What its answers took so far.
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
        count.journeys += self.journeys;
        count.processor_us += self.processor_us;
    }
}

impl Session for CountedSession {
    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError> {
        self.begun.isolation = isolation;
        self.begun.first = None;
        self.begun.journeys = 0;
        self.begun.processor_us = 0.0;
        self.session.begin(isolation)
    }

    fn share_thread(&mut self) {
        self.session.share_thread();
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: Then,
    ) -> Answering<'answering, &'session Answers> {
        let name = calls.first().map(|call| call.statement.name);
        self.begun.journeys += 1;
        self.begun.first = self.begun.first.or(name);
        let (session, begun) = (&mut self.session, &mut self.begun);
        Box::pin(async move {
            let answers = timed(session.run(calls, then), &mut begun.processor_us).await;
            if answers.is_err() || then == Then::Commit {
                begun.end(answers.is_err());
            }
            answers
        })
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        let (session, begun) = (&mut self.session, &mut self.begun);
        begun.journeys += 1;
        Box::pin(async move {
            let rolled_back = timed(session.rollback(), &mut begun.processor_us).await;
            begun.end(rolled_back.is_err());
            rolled_back
        })
    }

    fn abandon(&mut self) {
        self.session.abandon();
        self.begun.end(true);
    }
}

/// Adds up the processor time that this thread spends on an answer, without that of others who work
/// on it while the answer is waited for.
async fn timed<T>(mut answering: Answering<'_, T>, used_us: &mut f64) -> Result<T, DatabaseError> {
    poll_fn(|context| {
        let begun_us = micros(ClockId::ThreadCPUTime);
        let poll = answering.as_mut().poll(context);
        *used_us += micros(ClockId::ThreadCPUTime) - begun_us;
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
            begun: Begun {
                counts: Arc::clone(&self.counts),
                isolation: Isolation::ReadCommitted,
                first: None,
                journeys: 0,
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

    fn finishing(&self) -> Vec<Vec<Step>> {
        self.database.finishing()
    }

    fn carry_out(&self, step: &Step) -> Result<(), DatabaseError> {
        self.database.carry_out(step)
    }

    fn end_steps(&self) -> Result<(), DatabaseError> {
        self.database.end_steps()
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        self.database.mark_ready()
    }

    fn tables(&self) -> Result<Vec<String>, DatabaseError> {
        self.database.tables()
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        self.database.size_bytes()
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        self.database.remove()
    }
}
