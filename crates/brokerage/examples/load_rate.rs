//! How fast a run loads a data set into PostgreSQL - each connection takes the next part of a table
//! and generates its rows - compared with COPY from files prepared on the server, the next file by
//! each of as many connections, in turns on the same server. The CPU time of both is printed, too,
//! of the server and of this program: it shows what generating costs beyond what the server does.
//!
//! `cargo run --release -p brokerage --example load_rate [TRADE_DAYS [TURNS [CONNECTIONS
//! [FORMAT]]]]`; the format is that of the files, text or binary.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use brokerage::database::postgres::cluster::{Cluster, Settings};
use brokerage::database::{Build, Database};
use brokerage::dataset::DataSet;
use brokerage::error::DatabaseError;
use brokerage::generator::Generator;
use brokerage::run::loading::{Part, parts};
use brokerage::schema::TABLES;

type Done = Result<(), DatabaseError>;

fn main() -> Result<(), Box<dyn Error>> {
    let format = std::env::args().nth(4).unwrap_or_else(|| "text".to_owned());
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let trade_days = numbers.next().transpose()?.unwrap_or(5);
    let turns = numbers.next().transpose()?.unwrap_or(3);
    let connections = numbers.next().transpose()?.unwrap_or(2);
    let room = tempfile::tempdir()?;
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o711))?;
    let mut cluster = Cluster::start(
        &room.path().join("server"),
        &Settings::with_memory(512 << 20),
    )?;
    let database = cluster.database()?;
    database.create(&Build::new(1_000, trade_days, 1))?;
    let data_set = DataSet::new(1_000, trade_days, 1);
    let mut connection = database.connect_for_sql()?;
    connection.set_timeout(None)?;
    let mut names: Vec<_> = TABLES.iter().map(|table| table.name.name()).collect();
    let empty = format!("TRUNCATE {}; CHECKPOINT", names.join(", "));
    let file = |name: &str| cluster.data_directory().join(format!("{name}.copy"));
    let length = |name: &str| file(name).metadata().map_or(0, |about| about.len());

    let load = |generator: &Generator, parts: &[Part], next: &AtomicUsize| -> Done {
        let mut loader = database.loader()?;
        while let Some(Part { table, number, .. }) = parts.get(next.fetch_add(1, Ordering::Relaxed))
        {
            loader.begin(*table)?;
            generator.write(*table, *number, &mut *loader)?;
            loader.end()?;
        }
        Ok(())
    };
    let mut best = [0.0_f64; 2];
    for turn in 0..turns {
        // A new one, because a generator keeps the executed units.
        let generator = Generator::for_workers(data_set, connections as usize);
        let parts = parts(&generator, database.dialect());
        let ours = measure(connections, |next| load(&generator, &parts, next))?;
        if turn == 0 {
            for name in &names {
                connection.ask(&format!(
                    "COPY {name} TO '{}' WITH (FORMAT {format})",
                    file(name).display()
                ))?;
            }
            // The longest first, so that all connections end at about the same time.
            names.sort_by_key(|name| std::cmp::Reverse(length(name)));
        }
        let bytes = names.iter().map(|name| length(name)).sum::<u64>() as f64;
        connection.ask(&empty)?;
        let copy = |next: &AtomicUsize| -> Done {
            let mut connection = database.connect_for_sql()?;
            connection.set_timeout(None)?;
            connection.ask("SET synchronous_commit TO off")?;
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                connection.ask(&format!(
                    "COPY {name} FROM '{}' WITH (FORMAT {format})",
                    file(name).display()
                ))?;
            }
            Ok(())
        };
        let peer = measure(connections, copy)?;
        connection.ask(&empty)?;
        println!(
            "turn {turn}: {:.0} MB of {format} over {connections} connections: ours {:.1} MB/s \
             (processor time: server {:.2} s, rows and sending {:.2} s), COPY from files {:.1} \
             MB/s (server {:.2} s), ratio {:.3}",
            bytes / 1e6,
            bytes / ours.wall_s / 1e6,
            ours.server_s,
            ours.own_s,
            bytes / peer.wall_s / 1e6,
            peer.server_s,
            peer.wall_s / ours.wall_s
        );
        let rates = [bytes / ours.wall_s, bytes / peer.wall_s];
        best = [best[0].max(rates[0]), best[1].max(rates[1])];
    }
    println!("best of {turns}: ratio {:.3}", best[0] / best[1]);
    cluster.remove()?;
    Ok(())
}

/// Cost of a load.
struct Taken {
    wall_s: f64,
    server_s: f64,
    own_s: f64,
}

/// Lets this many threads work until nothing is left.
fn measure(
    threads: u32,
    work: impl Fn(&AtomicUsize) -> Done + Sync,
) -> Result<Taken, DatabaseError> {
    let next = AtomicUsize::new(0);
    let (started, [server_s, own_s]) = (Instant::now(), processor_seconds());
    let done = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(&next))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    });
    done?;
    let wall_s = started.elapsed().as_secs_f64();
    let until = processor_seconds();
    Ok(Taken {
        wall_s,
        server_s: until[0] - server_s,
        own_s: until[1] - own_s,
    })
}

/// CPU time of all server processes, ended ones included, and of this one.
fn processor_seconds() -> [f64; 2] {
    let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
    let own = format!("{}", std::process::id());
    let mut ticks = [0_u64; 2];
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((head, tail)) = text.rsplit_once(") ") else {
            continue;
        };
        let is_own = entry.file_name().to_str() == Some(own.as_str());
        if is_own || head.ends_with("(postgres") {
            // User and system time; of ended children too, which the server's first process counts.
            let times = tail.split(' ').skip(11).take(if is_own { 2 } else { 4 });
            let sum = times.map(|time| time.parse::<u64>().unwrap_or(0));
            ticks[usize::from(is_own)] += sum.sum::<u64>();
        }
    }
    ticks.map(|ticks| ticks as f64 / ticks_per_second)
}
