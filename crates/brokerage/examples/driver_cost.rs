//! What our connection to PostgreSQL costs beside that of pgbench, on the same server in the same
//! run: CPU time of the client per transaction, for a question by primary key.
//!
//! Usage: `driver_cost [SECONDS per turn] [TURNS] [CONNECTIONS] [RATE]`. It makes a server of its own
//! in a temporary directory, fills pgbench's tables, and lets both work in turns. All of our
//! connections share a thread. pgbench is run with one, too, and with as many threads as connections,
//! whichever does it better. Without a rate both ask as fast as they can; with one, so many questions
//! a second are spread evenly, as in a run where connections wait for storage most of the time: each
//! answer then finds its reader asleep.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use brokerage::database::postgres::cluster::{Programs, Settings};
use brokerage::database::postgres::{Cluster, Connection};
use brokerage::database::{Address, Endpoint};
use brokerage::schema::Type;
use brokerage::session::{AfterBatch, Call, Isolation, Session};
use brokerage::statement::Statement;
use brokerage::value::Value;
use runtime::thread::pause;
use runtime::{Runtime, WallClockOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// pgbench's own question (`-S`).
static SELECT: Statement = Statement {
    name: "select",
    sql: "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
    parameters: &[Type::Integer],
};

const SCALE: u64 = 5;
const TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let seconds = numbers.next().transpose()?.unwrap_or(5);
    let turns = numbers.next().transpose()?.unwrap_or(3);
    let connections = numbers.next().transpose()?.unwrap_or(8);
    let rate = numbers.next().transpose()?;
    let room = tempfile::tempdir()?;
    std::fs::set_permissions(
        room.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o711),
    )?;
    let mut cluster = Cluster::start(
        &room.path().join("server"),
        &Settings::with_memory(256 << 20),
    )?;
    let address = cluster.address();
    let pgbench = Programs::find()?.program("pgbench");
    let scale = SCALE.to_string();
    let filled = peer(&pgbench, &address)?
        .args(["-i", "-q", "-s", &scale])
        .status()?;
    if !filled.success() {
        return Err("pgbench could not fill its tables".into());
    }
    println!("client processor time per transaction, microseconds; transactions per second");
    println!("{:>12} {:>18} {:>18} {:>8}", "", "pgbench", "ours", "ratio");
    let jobs = connections.to_string();
    let (mut best_peer, mut best_ours) = (f64::MAX, f64::MAX);
    for turn in 0..turns {
        let mut peers = Vec::new();
        for jobs in [jobs.as_str(), "1"] {
            peers.push(pgbench_turn(
                &pgbench,
                &address,
                seconds,
                &connections.to_string(),
                jobs,
                rate,
            )?);
        }
        let ours = our_turn(&address, seconds, connections, rate)?;
        let cheapest = if peers[0].0 < peers[1].0 {
            peers[0]
        } else {
            peers[1]
        };
        println!(
            "turn {turn:>7} {:>9.2} {:>8.0} {:>9.2} {:>8.0} {:>8.3}   (pgbench -j {jobs}: {:.2}, -j 1: {:.2})",
            cheapest.0,
            cheapest.1,
            ours.0,
            ours.1,
            ours.0 / cheapest.0,
            peers[0].0,
            peers[1].0
        );
        best_peer = best_peer.min(cheapest.0);
        best_ours = best_ours.min(ours.0);
    }
    println!(
        "best of {turns}: {best_peer:.2} against {best_ours:.2}, ratio {:.3}",
        best_ours / best_peer
    );
    cluster.remove()?;
    Ok(())
}

/// A run of pgbench: microseconds and transactions per second.
fn pgbench_turn(
    pgbench: &std::path::Path,
    address: &Address,
    seconds: u32,
    connections: &str,
    jobs: &str,
    rate: Option<u32>,
) -> Result<(f64, f64), Failure> {
    let before = children_microseconds()?;
    let paced = rate.map(|rate| ["-R".to_owned(), rate.to_string()]);
    let output = peer(pgbench, address)?
        .args(["-n", "-S", "-M", "prepared", "-c", connections, "-j", jobs])
        .args(["-T", &seconds.to_string()])
        .args(paced.iter().flatten())
        .stderr(Stdio::inherit())
        .output()?;
    let used = children_microseconds()? - before;
    let text = String::from_utf8(output.stdout)?;
    let shard_link = "number of transactions actually processed: ";
    let done = text.lines().find_map(|said| said.strip_prefix(shard_link));
    let done: f64 = done.ok_or("pgbench said nothing")?.trim().parse()?;
    Ok((used / done, done / f64::from(seconds)))
}

fn peer(pgbench: &std::path::Path, address: &Address) -> Result<Command, Failure> {
    let Endpoint::Socket(socket) = &address.endpoint else {
        return Err("the server has a socket".into());
    };
    let mut command = Command::new(pgbench);
    command.env("PGHOST", socket.parent().ok_or("a directory")?);
    command
        .env("PGUSER", &address.user)
        .env("PGDATABASE", "postgres");
    Ok(command)
}

fn our_turn(
    address: &Address,
    seconds: u32,
    connections: u32,
    rate: Option<u32>,
) -> Result<(f64, f64), Failure> {
    let interval =
        rate.map(|rate| Duration::from_secs_f64(f64::from(connections) / f64::from(rate)));
    let runtime = Runtime::wall_clock(&WallClockOptions::default())?;
    let before = own_microseconds()?;
    let until = Instant::now() + Duration::from_secs(u64::from(seconds));
    let mut users = Vec::new();
    for user in 0..connections {
        let mut session = Connection::session(address, "postgres", TIMEOUT)?;
        session.share_thread();
        let work = our_user(session, u64::from(user), until, interval);
        users.push(runtime.handle().spawn(work));
    }
    let done = runtime.block_on(async {
        let mut done = 0;
        for user in users {
            done += user.await?;
        }
        Ok::<u64, Failure>(done)
    })?;
    let used = own_microseconds()? - before;
    Ok((used / done as f64, done as f64 / f64::from(seconds)))
}

/// One connection: asks until the time is over, either at once or each question an interval after
/// the one before was due.
async fn our_user(
    mut session: Connection,
    user: u64,
    until: Instant,
    interval: Option<Duration>,
) -> Result<u64, Failure> {
    let mut state = user.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut done = 0;
    let mut due = Instant::now();
    while Instant::now() < until {
        // A draw by xorshift: the draw is no part of what is measured.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if let Some(interval) = interval {
            // Anywhere in the interval, so that connections do not ask all at once.
            let place = (state >> 32) as f64 / f64::from(u32::MAX);
            pause((due + interval.mul_f64(place)).saturating_duration_since(Instant::now())).await;
            due += interval;
        }
        let account = 1 + i64::try_from(state % (100_000 * SCALE))?;
        let calls = [Call {
            statement: &SELECT,
            parameters: vec![Value::Integer(account)],
        }];
        session.begin(Isolation::ReadCommitted)?;
        let answers = session.run(&calls, AfterBatch::Commit).await?;
        assert!(
            answers.of(0).integer(0, 0).is_some(),
            "the account is there"
        );
        done += 1;
    }
    Ok(done)
}

/// CPU time of this process and of its threads, from /proc: user and system in clock ticks
/// would be too coarse, so it is the scheduler's own sum over all threads that live.
fn own_microseconds() -> Result<f64, Failure> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3)
}

/// CPU time of the programs that we have run and waited for, in hundredths of a second.
fn children_microseconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in brackets may hold spaces; what follows it is field 3.
    let (_, after) = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
    let fields: Vec<_> = after.split_whitespace().collect();
    let ticks = fields[13].parse::<f64>()? + fields[14].parse::<f64>()?;
    Ok(ticks * 1e4)
}
