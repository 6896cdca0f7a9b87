//! What our connection to PostgreSQL costs beside that of pgbench, on the same server in the same
//! run: processor time of the client per transaction, for a question by primary key.
//!
//! Usage: `driver_cost [SECONDS per turn] [TURNS] [CONNECTIONS]`. It makes a server of its own in a
//! temporary directory, fills pgbench's tables, and lets both work in turns. pgbench is run with as
//! many threads as connections, as we do, and with one, whichever does it better.

use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use brokerage::database::postgres::cluster::{Programs, Settings};
use brokerage::database::postgres::{Cluster, Connection};
use brokerage::database::{Address, Endpoint};
use brokerage::schema::Type;
use brokerage::session::{Call, Isolation, Session, Then};
use brokerage::statement::Statement;
use brokerage::value::Value;
use runtime::thread::complete;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// pgbench's own question (`-S`).
static SELECT: Statement = Statement {
    name: "select",
    sql: "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
    parameters: &[Type::Integer],
    columns: &[Type::Integer],
};

const SCALE: u64 = 5;
const PATIENCE: Duration = Duration::from_secs(10);

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
            )?);
        }
        let ours = our_turn(&address, seconds, connections)?;
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
) -> Result<(f64, f64), Failure> {
    let before = children_microseconds()?;
    let output = peer(pgbench, address)?
        .args(["-n", "-S", "-M", "prepared", "-c", connections, "-j", jobs])
        .args(["-T", &seconds.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    let used = children_microseconds()? - before;
    let text = String::from_utf8(output.stdout)?;
    let line = "number of transactions actually processed: ";
    let done = text.lines().find_map(|said| said.strip_prefix(line));
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

fn our_turn(address: &Address, seconds: u32, connections: u32) -> Result<(f64, f64), Failure> {
    let stop = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    let before = own_microseconds()?;
    std::thread::scope(|scope| -> Result<(), Failure> {
        let users: Vec<_> = (0..connections)
            .map(|user| {
                let (stop, done) = (&stop, &done);
                scope.spawn(move || our_user(address, u64::from(user), stop, done))
            })
            .collect();
        let begun = Instant::now();
        std::thread::sleep(Duration::from_secs(u64::from(seconds)).saturating_sub(begun.elapsed()));
        stop.store(true, Ordering::Relaxed);
        for user in users {
            user.join().map_err(|_| "a user panicked")??;
        }
        Ok(())
    })?;
    let used = own_microseconds()? - before;
    let done = done.into_inner() as f64;
    Ok((used / done, done / f64::from(seconds)))
}

fn our_user(
    address: &Address,
    user: u64,
    stop: &AtomicBool,
    done: &AtomicU64,
) -> Result<(), Failure> {
    let mut session = Connection::session(address, "postgres", PATIENCE)?;
    let mut state = user.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut mine = 0;
    while !stop.load(Ordering::Relaxed) {
        // A draw by xorshift: the draw is no part of what is measured.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let account = 1 + i64::try_from(state % (100_000 * SCALE))?;
        let call = Call {
            statement: &SELECT,
            parameters: vec![Value::Integer(account)],
        };
        session.begin(Isolation::ReadCommitted)?;
        let answers = complete(session.run(&[call], Then::Commit))?;
        assert!(
            answers.of(0).integer(0, 0).is_some(),
            "the account is there"
        );
        mine += 1;
    }
    done.fetch_add(mine, Ordering::Relaxed);
    Ok(())
}

/// Processor time of this process and of its threads, from /proc: user and system in clock ticks
/// would be too coarse, so it is the scheduler's own sum over all threads that live.
fn own_microseconds() -> Result<f64, Failure> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3)
}

/// Processor time of the programs that we have run and waited for, in hundredths of a second.
fn children_microseconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in brackets may hold spaces; what follows it is field 3.
    let (_, after) = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
    let fields: Vec<_> = after.split_whitespace().collect();
    let ticks = fields[13].parse::<f64>()? + fields[14].parse::<f64>()?;
    Ok(ticks * 1e4)
}
