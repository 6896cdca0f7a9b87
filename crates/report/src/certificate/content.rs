//! What stands on a certificate.

use measure::recompute::Agreement;
use measure::result::{DeviceResult, RunResult, TargetPath, Verdict};

use super::{Block, Certificate, CertifiedRun, Details, Fact, Grid, figures, run, texts};
use crate::number::{ABSENT, bytes, counted, duration, figure, moment};
use crate::tone::Tone;
use crate::words::{headline, workload_name};

/// Devices that are listed at most.
const MOST_DEVICES: usize = 6;

/// Places of databases and logs that are listed at most.
const MOST_PLACES: usize = 4;

pub(super) fn certificate(runs: &[CertifiedRun], details: &Details) -> Certificate {
    let worst = runs.iter().max_by_key(|one| rank(one)).unwrap_or(&runs[0]);
    let result = &runs[0].run.result;
    let has_passed = runs
        .iter()
        .all(|one| one.run.result.verdict == Verdict::Pass && is_verified(one));
    let mut blocks = vec![
        answer(runs, worst),
        Block::Heading("1  Storage under test".to_owned()),
    ];
    blocks.push(Block::Facts(storage(details)));
    blocks.push(Block::Heading("2  Host and devices".to_owned()));
    blocks.push(Block::Facts(host(result)));
    if !result.host.devices.is_empty() {
        blocks.push(Block::Table(devices(&result.host.devices)));
    }
    blocks.push(Block::Heading(
        "3  Question and simulated configuration".to_owned(),
    ));
    blocks.push(Block::Text(question(runs)));
    blocks.push(Block::Facts(configuration(&runs[0])));
    if runs.len() > 1 {
        blocks.push(Block::Table(summary(runs)));
    }
    if !details.note.is_empty() {
        blocks.push(Block::Text(format!("Note: {}", details.note)));
    }
    if let [one] = runs {
        blocks.extend(run::results(one));
        blocks.push(Block::NewPage);
        blocks.extend(run::judgement(one));
    } else {
        for (number, one) in runs.iter().enumerate() {
            blocks.push(Block::NewPage);
            blocks.push(run::title(one, number + 1));
            blocks.extend(run::results(one));
            blocks.extend(run::judgement(one));
        }
    }
    blocks.push(Block::Heading("9  Signatures".to_owned()));
    blocks.push(Block::Signatures(vec![
        ("For the tester", details.tester.clone()),
        ("For the customer", details.customer.clone()),
    ]));
    let title = if has_passed {
        "Certificate of storage acceptance test"
    } else {
        "Storage test report"
    };
    Certificate {
        title: title.to_owned(),
        subtitle: subtitle(result),
        foot: format!(
            "{title}, Proofload {}. Not a result of the Exchange Solution Reviewed Program; not made \
             or endorsed by Microsoft.",
            result.version
        ),
        blocks,
    }
}

/// The worst answer of several runs is that of all of them.
fn rank(one: &CertifiedRun) -> u8 {
    match one.run.result.verdict {
        _ if one.verified.agreement() == Agreement::None => 5,
        Verdict::Error => 4,
        Verdict::Fail => 3,
        Verdict::Interrupted => 2,
        Verdict::Inconclusive | Verdict::Built => 1,
        Verdict::Pass => 0,
    }
}

/// Whether nothing in it was found changed, and its hashes were compared.
fn is_verified(one: &CertifiedRun) -> bool {
    one.verified.agreement() == Agreement::Whole
}

fn subtitle(result: &RunResult) -> String {
    let begun = match result.started.as_str() {
        "" => String::new(),
        started => format!(" of {}", moment(started)),
    };
    format!("Run{begun} on host {}", or_absent(&result.host.name))
}

fn answer(runs: &[CertifiedRun], worst: &CertifiedRun) -> Block {
    let headline = headline(&worst.run);
    let verdict = worst.run.result.verdict;
    let all = match runs.len() {
        1 => String::new(),
        count => {
            let passed = runs.iter().filter(|one| rank(one) == 0).count();
            format!("{passed} of {count} runs passed. ")
        }
    };
    if worst.verified.agreement() == Agreement::None {
        return Block::Answer {
            tone: Tone::Fail,
            word: "NOT VERIFIED".to_owned(),
            sentence: format!(
                "The files of {} were changed after the run: this document shows nothing.",
                worst.run.name
            ),
            reason: format!(
                "{all}{} found by 'proofload verify'. The verdict in the changed files is {}.",
                counted(worst.verified.differences.count, "difference"),
                headline.word
            ),
        };
    }
    Block::Answer {
        tone: Tone::of_verdict(verdict),
        word: headline.word.to_owned(),
        sentence: headline.sentence,
        reason: format!("{all}{}", headline.reason),
    }
}

fn storage(details: &Details) -> Vec<Fact> {
    vec![
        Fact::new("Customer", &details.customer),
        Fact::new("Tested by", &details.tester),
        Fact::new("Storage array", &details.array),
        Fact::new("Serial numbers", &details.serial),
        Fact::new("Firmware", &details.firmware),
        Fact::new("Disks, RAID level", &details.disks),
        Fact::new("Controllers, cache", &details.controllers),
        Fact::new("Connection, paths", &details.connection),
    ]
}

fn host(result: &RunResult) -> Vec<Fact> {
    let host = &result.host;
    vec![
        Fact::new("Host", &host.name),
        Fact::new("Operating system", &host.operating_system),
        Fact::new("Kernel", &host.kernel),
        Fact::new(
            "Processor, memory",
            format!(
                "{} x {}, {}",
                host.cpus,
                or_absent(&host.cpu_model),
                bytes(host.memory_bytes as f64)
            ),
        ),
    ]
}

fn devices(devices: &[DeviceResult]) -> Grid {
    let mut rows: Vec<Vec<String>> = devices
        .iter()
        .take(MOST_DEVICES)
        .map(|device| {
            let below = match device.underlying_devices.as_slice() {
                [] => String::new(),
                below => format!(" on {}", below.join(", ")),
            };
            vec![
                format!("{}{below}", device.name),
                or_absent(&device.model).to_owned(),
                or_absent(&device.serial).to_owned(),
                or_absent(&device.firmware).to_owned(),
                bytes(device.size_bytes as f64),
            ]
        })
        .collect();
    let more = devices.len().saturating_sub(MOST_DEVICES);
    if more > 0 {
        let mut row = vec![String::new(); 5];
        row[0] = format!("and {} in result.json", counted(more as u64, "device"));
        rows.push(row);
    }
    Grid {
        columns: vec![
            texts("Device", 0.22),
            texts("Model", 0.28),
            texts("Serial number", 0.24),
            texts("Firmware", 0.14),
            figures("Size", 0.12),
        ],
        rows,
    }
}

fn question(runs: &[CertifiedRun]) -> String {
    let result = &runs[0].run.result;
    let about = match result.workload.description.trim() {
        "" => String::new(),
        text => format!(" The workload: {}.", text.trim_end_matches('.')),
    };
    let several = match runs.len() {
        1 => "",
        _ => " The configuration below is that of the first run.",
    };
    format!(
        "Does the storage carry the workload {} within the service levels of its profile, and does it \
         return every page as it was written?{about}{several}",
        workload_name(result)
    )
}

fn configuration(one: &CertifiedRun) -> Vec<Fact> {
    let result = &one.run.result;
    let throughput = &result.throughput;
    let size = result.totals.size_end_bytes;
    let capacity: u64 = result
        .target
        .databases
        .iter()
        .map(|t| t.capacity_bytes)
        .sum();
    let data = format!(
        "{}, {}",
        counted(result.databases.len() as u64, "database"),
        bytes(size as f64)
    );
    let share = match capacity {
        0 => ABSENT.to_owned(),
        capacity => format!(
            "{} % of {}",
            figure(100.0 * size as f64 / capacity as f64),
            bytes(capacity as f64)
        ),
    };
    let target = throughput.target_iops.map_or_else(
        || "none".to_owned(),
        |target| format!("{} IOPS", figure(target)),
    );
    let client = one.run.contribution.words.client;
    let clients = throughput
        .threads
        .map_or_else(|| ABSENT.to_owned(), |threads| counted(threads, client));
    let load = one.run.contribution.load.clone();
    let mut facts = vec![
        Fact::new("Workload", workload_name(result)),
        Fact::new("Load", load.unwrap_or(clients)),
        Fact::new("Databases", data),
        Fact::new("Target", target),
        Fact::new("Capacity used", share),
        Fact::new("Measured phase", duration(result.duration_s)),
        Fact::wide("Databases on", places(&result.target.databases)),
    ];
    if result.target.logs != result.target.databases {
        facts.push(Fact::wide("Logs on", places(&result.target.logs)));
    }
    facts
}

fn places(targets: &[TargetPath]) -> String {
    let place = |target: &TargetPath| {
        let kind = match target.file_system.as_str() {
            "" => "block device",
            file_system => file_system,
        };
        let device = target.device.as_deref().unwrap_or("no block device");
        format!("{} ({kind} on {device})", target.path)
    };
    let shown: Vec<String> = targets.iter().take(MOST_PLACES).map(place).collect();
    let more = targets.len().saturating_sub(MOST_PLACES);
    let more = (more > 0).then(|| format!("and {more} more in result.json"));
    shown.into_iter().chain(more).collect::<Vec<_>>().join(", ")
}

/// One row for each run.
fn summary(runs: &[CertifiedRun]) -> Grid {
    let rows = runs.iter().enumerate().map(|(number, one)| {
        let result = &one.run.result;
        let word = match one.verified.agreement() {
            Agreement::None => "NOT VERIFIED",
            _ => headline(&one.run).word,
        };
        vec![
            format!("{}  {}", number + 1, one.run.name),
            moment(&result.started),
            duration(result.duration_s),
            figure(result.throughput.achieved_iops),
            word.to_owned(),
        ]
    });
    Grid {
        columns: vec![
            texts("Run", 0.36),
            texts("Started (UTC)", 0.24),
            figures("Measured", 0.12),
            figures("IOPS", 0.1),
            texts("Verdict", 0.18),
        ],
        rows: rows.collect(),
    }
}

/// The text, or the sign for nothing.
pub(super) fn or_absent(text: &str) -> &str {
    match text.trim() {
        "" => ABSENT,
        text => text,
    }
}
