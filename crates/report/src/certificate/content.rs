//! What stands on a certificate.

use measure::recompute::Agreement;
use measure::result::{DeviceResult, RunResult, TargetPath};

use super::shared::{NOT_VERIFIED, heading, or_absent, rank, tests};
use super::{Block, Certificate, CertifiedRun, Details, Fact, Grid, figures, run, summary, texts};
use crate::number::{ABSENT, bytes, counted, duration, figure, moment};
use crate::tone::Tone;
use crate::words::{headline, was_measured, workload_name};

/// Devices that are listed at most.
const MOST_DEVICES: usize = 6;

/// Places of databases and logs that are listed at most.
const MOST_PLACES: usize = 4;

pub(super) fn certificate(runs: &[CertifiedRun], details: &Details) -> Certificate {
    let has_passed = runs.iter().all(|one| rank(one) == 0);
    let title = match has_passed {
        true => "Certificate of storage acceptance test",
        false => "Storage test report",
    };
    let first = &runs[0].run.result;
    let (subtitle, mut blocks) = match runs {
        [one] => {
            let mut blocks = pages(one, Some(details));
            blocks.extend(signatures(details));
            (subtitle(first), blocks)
        }
        _ => {
            let mut blocks = vec![summary::answer(runs)];
            blocks.extend(storage(details));
            blocks.extend(note(details));
            blocks.extend(summary::tables(runs));
            blocks.extend(signatures(details));
            for (number, one) in (1..).zip(runs) {
                blocks.push(Block::NewPage);
                blocks.push(Block::Title {
                    title: format!("Run {number} of {}: {}", runs.len(), one.run.name),
                    subtitle: subtitle(&one.run.result),
                });
                blocks.extend(pages(one, None));
            }
            (summary::subtitle(runs), blocks)
        }
    };
    let head = Block::Title {
        title: title.to_owned(),
        subtitle: subtitle.clone(),
    };
    blocks.insert(0, head);
    number_sections(&mut blocks);
    Certificate {
        title: title.to_owned(),
        subtitle,
        foot: format!(
            "{title}, Proofload {}. Not a result of the Exchange Solution Reviewed Program; not made \
             or endorsed by Microsoft.",
            first.version
        ),
        blocks,
    }
}

/// The two pages of a run; those of several runs have the details of the storage once, before them.
fn pages(one: &CertifiedRun, details: Option<&Details>) -> Vec<Block> {
    let result = &one.run.result;
    let mut blocks = vec![answer(one)];
    blocks.extend(details.into_iter().flat_map(storage));
    blocks.push(heading("Host and devices"));
    blocks.push(Block::Facts(host(result)));
    if !result.host.devices.is_empty() {
        blocks.push(Block::Table(devices(&result.host.devices)));
    }
    blocks.push(heading("Question and simulated configuration"));
    blocks.push(Block::Text(question(result)));
    blocks.push(Block::Facts(configuration(one)));
    blocks.extend(details.and_then(note));
    blocks.extend(run::results(one));
    blocks.push(Block::NewPage);
    blocks.extend(run::judgement(one));
    blocks
}

/// Numbers the sections of each part.
fn number_sections(blocks: &mut [Block]) {
    let mut number = 0;
    for block in blocks {
        match block {
            Block::Title { .. } => number = 0,
            Block::Heading(text) => {
                number += 1;
                *text = format!("{number}  {text}");
            }
            _ => {}
        }
    }
}

fn signatures(details: &Details) -> [Block; 2] {
    let roles = vec![
        ("For the tester", details.tester.clone()),
        ("For the customer", details.customer.clone()),
    ];
    [heading("Signatures"), Block::Signatures(roles)]
}

fn subtitle(result: &RunResult) -> String {
    let begun = match result.started.as_str() {
        "" => String::new(),
        started => format!(" of {}", moment(started)),
    };
    format!("Run{begun} on host {}", or_absent(&result.host.name))
}

fn answer(one: &CertifiedRun) -> Block {
    let headline = headline(&one.run);
    if one.verified.agreement() == Agreement::None {
        return Block::Answer {
            tone: Tone::Fail,
            word: NOT_VERIFIED.to_owned(),
            sentence: format!(
                "The files of {} were changed after the run: this document shows nothing.",
                one.run.name
            ),
            reason: format!(
                "{} found by 'proofload verify'. The verdict in the changed files is {}.",
                counted(one.verified.differences.count, "difference"),
                headline.word
            ),
        };
    }
    Block::Answer {
        tone: Tone::of_verdict(one.run.result.verdict),
        word: headline.word.to_owned(),
        sentence: headline.sentence,
        reason: headline.reason,
    }
}

/// The storage as its owner describes it, under its heading.
fn storage(details: &Details) -> [Block; 2] {
    let facts = vec![
        Fact::new("Customer", &details.customer),
        Fact::new("Tested by", &details.tester),
        Fact::new("Storage array", &details.array),
        Fact::new("Serial numbers", &details.serial),
        Fact::new("Firmware", &details.firmware),
        Fact::new("Disks, RAID level", &details.disks),
        Fact::new("Controllers, cache", &details.controllers),
        Fact::new("Connection, paths", &details.connection),
    ];
    [heading("Storage under test"), Block::Facts(facts)]
}

fn note(details: &Details) -> Option<Block> {
    let note = &details.note;
    (!note.is_empty()).then(|| Block::Text(format!("Note: {note}")))
}

fn host(result: &RunResult) -> Vec<Fact> {
    let host = &result.host;
    vec![
        Fact::new("Host", &host.name),
        Fact::new("Operating system", &host.operating_system),
        Fact::new("Kernel", &host.kernel),
        Fact::new(
            "CPUs, memory",
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

fn question(result: &RunResult) -> String {
    let about = match result.workload.description.trim() {
        "" => String::new(),
        text => format!(" The workload: {}.", text.trim_end_matches('.')),
    };
    let name = workload_name(result);
    let asked = match result.has_measured_phase() {
        true => format!("carry the workload {name} within the service levels of its profile"),
        false => format!("pass the tests of the workload {name}: {}", tests(result)),
    };
    format!("Does the storage {asked}, and does it return every page as it was written?{about}")
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
    let target = throughput.target_iops;
    let target = target.filter(|_| result.has_measured_phase()).map_or_else(
        || "none".to_owned(),
        |target| format!("{} IOPS", figure(target)),
    );
    let client = one.run.contribution.words.client;
    let clients = throughput
        .threads
        .map_or_else(|| ABSENT.to_owned(), |threads| counted(threads, client));
    let load = one.run.contribution.load.clone();
    // A backup or a recovery may be tested without any.
    let load = match was_measured(result) || !result.operations.is_empty() {
        true => load.unwrap_or(clients),
        false => "none".to_owned(),
    };
    let measured = match was_measured(result) {
        true => duration(result.duration_s),
        false => "none".to_owned(),
    };
    let mut facts = vec![
        Fact::new("Workload", workload_name(result)),
        Fact::new("Load", load),
        Fact::new("Databases", data),
        Fact::new("Target", target),
        Fact::new("Capacity used", share),
        Fact::new("Measured phase", measured),
        Fact::wide("Databases on", places(&result.target.databases)),
    ];
    if result.target.logs != result.target.databases {
        facts.push(Fact::wide("Logs on", places(&result.target.logs)));
    }
    facts
}

fn places(targets: &[TargetPath]) -> String {
    let place = |target: &TargetPath| {
        let kind = target.described();
        let device = target.device.as_deref().unwrap_or("no block device");
        format!("{} ({kind} on {device})", target.path)
    };
    let shown: Vec<String> = targets.iter().take(MOST_PLACES).map(place).collect();
    let more = targets.len().saturating_sub(MOST_PLACES);
    let more = (more > 0).then(|| format!("and {more} more in result.json"));
    shown.into_iter().chain(more).collect::<Vec<_>>().join(", ")
}
