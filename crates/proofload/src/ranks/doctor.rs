//! What is wrong with a launch: `proofload doctor --mpi`.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ::ranks::Peers;
use ::ranks::launch::Launch;
use execution::RunOptions;
use measure::host;
use measure::run_directory::hash_file;
use serde::{Deserialize, Serialize};

use super::{decoded, encoded, host_name, placeholders};

/// File systems that several hosts may see.
const SHARED: [&str; 10] = [
    "nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "ceph", "beegfs", "ocfs2", "gfs2",
];

/// Clocks that are further apart make it hard to find one moment in the logs of two hosts, ms.
const NOTABLE_OFFSET_MS: f64 = 100.0;
/// A less certain comparison of clocks means that messages take long, ms.
const NOTABLE_UNCERTAINTY_MS: f64 = 5.0;
/// Hosts whose CPUs or memory differ by more are not alike.
const NOTABLE_RATIO: f64 = 1.1;

/// What one rank says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankFacts {
    /// Name of the host that the rank runs on.
    pub host: String,
    /// Version of the program.
    pub version: String,
    /// SHA-256 of the program.
    pub program_sha256: String,
    /// Name, version and thread level of the MPI library.
    pub library: String,
    /// Processes that its launcher has started; 0 when the environment does not say.
    pub launched: usize,
    /// CPUs of the host.
    pub cpus: u64,
    /// CPUs that the process may use.
    pub usable_cpus: u64,
    /// Memory of the host.
    pub memory_bytes: u64,
    /// Its time of day minus that of rank 0, ms.
    pub clock_offset_ms: f64,
    /// How far that may be wrong: half of the fastest round trip to rank 0, ms.
    pub clock_uncertainty_ms: f64,
    /// The places under test, with the words of this rank.
    pub targets: Vec<TargetFacts>,
    /// SHA-256 of the profile file; empty without one.
    pub profile_sha256: String,
}

/// A place under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Path of the target on that host.
    pub path: String,
    /// Device and inode; `None` when it is not there.
    pub identity: Option<(u64, u64)>,
    /// Type of its file system.
    pub file_system: String,
    /// Kernel name of the block device below it.
    pub device: Option<String>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A run does not begin.
    Blocking,
    /// A run would measure something else than was meant.
    Fault,
    /// Worth knowing.
    Note,
}

/// Something about the launch that should be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchFinding {
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, as a sentence.
    pub text: String,
    /// What to do, as a sentence.
    pub remedy: String,
}

/// All ranks, and what is wrong with them.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchReport {
    /// What each rank found out, in the order of their numbers.
    pub ranks: Vec<RankFacts>,
    /// What matters most first.
    pub findings: Vec<LaunchFinding>,
}

/// Examines the launch. Rank 0 gets the report, the others nothing.
#[must_use]
pub fn examine(
    peers: &Peers,
    profile: Option<&Path>,
    options: &RunOptions,
) -> Option<LaunchReport> {
    let all = peers.gather(
        "doctor",
        encoded(&own_facts(
            peers,
            profile,
            &placeholders::fill(options, peers),
        )),
    );
    peers.is_first().then(|| {
        let facts = all.iter().map(|one| decoded(one.as_deref()));
        let ranks: Vec<RankFacts> = facts.map(Option::unwrap_or_default).collect();
        let findings = findings(&ranks);
        LaunchReport { ranks, findings }
    })
}

/// What this rank says of itself; `options` have its words.
pub(super) fn own_facts(peers: &Peers, profile: Option<&Path>, options: &RunOptions) -> RankFacts {
    let nowhere: [&Path; 0] = [];
    let facts = host::facts(&nowhere);
    let hash = |path: &Path| {
        let directory = path.parent().unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        hash_file(directory, name.into_owned(), u64::MAX)
            .map_or(String::new(), |found| found.sha256)
    };
    let offset = peers.offset();
    let places = options.on.iter().chain(&options.log_on);
    RankFacts {
        host: host_name(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program_sha256: hash(Path::new("/proc/self/exe")),
        library: peers.library().to_owned(),
        launched: Launch::of_environment().map_or(0, |launch| launch.size),
        cpus: cpus_of_host().max(facts.cpus),
        usable_cpus: facts.cpus,
        memory_bytes: facts.memory_bytes,
        clock_offset_ms: offset.time_of_day_ns as f64 / 1e6,
        clock_uncertainty_ms: offset.uncertainty_ns as f64 / 1e6,
        targets: places.map(target_facts).collect(),
        profile_sha256: profile.map_or(String::new(), hash),
    }
}

fn cpus_of_host() -> u64 {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("processor"));
    lines.count() as u64
}

fn target_facts(path: &PathBuf) -> TargetFacts {
    let described = host::describe_target(path);
    TargetFacts {
        path: path.display().to_string(),
        identity: std::fs::metadata(path)
            .ok()
            .map(|facts| (facts.dev(), facts.ino())),
        file_system: described.file_system,
        device: described.device,
    }
}

/// What is wrong; what matters most comes first.
pub(super) fn findings(ranks: &[RankFacts]) -> Vec<LaunchFinding> {
    let mut found = Vec::new();
    versions(ranks, &mut found);
    targets(ranks, &mut found);
    processors(ranks, &mut found);
    uneven(ranks, &mut found);
    clocks(ranks, &mut found);
    found.sort_by_key(|one: &LaunchFinding| one.severity);
    found
}

fn finding(severity: Severity, text: String, remedy: &str) -> LaunchFinding {
    LaunchFinding {
        severity,
        text,
        remedy: remedy.to_owned(),
    }
}

/// The ranks whose `value` is another one than that of rank 0.
fn differing<T: PartialEq>(ranks: &[RankFacts], value: impl Fn(&RankFacts) -> T) -> Vec<usize> {
    let numbered = ranks.iter().enumerate();
    let differs = numbered.filter(|(_, one)| value(one) != value(&ranks[0]));
    differs.map(|(rank, _)| rank).collect()
}

/// `rank 2 on db4` or `ranks 2 on db4, 3 on db5`.
fn named(ranks: &[RankFacts], numbers: &[usize]) -> String {
    const MOST: usize = 8;
    let name = |rank: &usize| format!("{rank} on {}", ranks[*rank].host);
    let mut names: Vec<String> = numbers.iter().take(MOST).map(name).collect();
    if numbers.len() > MOST {
        names.push(format!("and {} more", numbers.len() - MOST));
    }
    let noun = if numbers.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", names.join(", "))
}

fn versions(ranks: &[RankFacts], found: &mut Vec<LaunchFinding>) {
    let other = differing(ranks, |one| {
        (one.version.clone(), one.program_sha256.clone())
    });
    if !other.is_empty() {
        let text = format!(
            "Another program than on rank 0 runs on {}.",
            named(ranks, &other)
        );
        found.push(finding(
            Severity::Blocking,
            text,
            "Install the same file on all hosts.",
        ));
    }
    let other = differing(ranks, |one| one.library.clone());
    if !other.is_empty() {
        let text = format!(
            "Another MPI library than on rank 0 is used by {}.",
            named(ranks, &other)
        );
        found.push(finding(
            Severity::Blocking,
            text,
            "Install the same MPI on all hosts.",
        ));
    }
    let other = differing(ranks, |one| one.profile_sha256.clone());
    if !other.is_empty() {
        let text = format!(
            "Another profile than on rank 0 is read by {}.",
            named(ranks, &other)
        );
        let remedy = "Put the profile where all hosts see the same file.";
        found.push(finding(Severity::Blocking, text, remedy));
    }
}

fn targets(ranks: &[RankFacts], found: &mut Vec<LaunchFinding>) {
    let mut directories: BTreeMap<(String, u64, u64), Vec<usize>> = BTreeMap::new();
    let mut devices: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut shared: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (rank, one) in ranks.iter().enumerate() {
        let add = |list: &mut Vec<usize>| {
            if list.last() != Some(&rank) {
                list.push(rank);
            }
        };
        for target in &one.targets {
            let Some((device, inode)) = target.identity else {
                let text = format!(
                    "{} does not exist on {}.",
                    target.path,
                    named(ranks, &[rank])
                );
                found.push(finding(
                    Severity::Fault,
                    text,
                    "Mount it, or make the directory.",
                ));
                continue;
            };
            add(directories
                .entry((one.host.clone(), device, inode))
                .or_default());
            if let Some(device) = &target.device {
                add(devices
                    .entry((one.host.clone(), device.clone()))
                    .or_default());
            }
            if SHARED.contains(&target.file_system.as_str()) {
                add(shared.entry(target.path.clone()).or_default());
            }
        }
    }
    let remedy = "Give each rank a place of its own with {rank} or {host} in the path.";
    for ranks_there in directories.values().filter(|list| list.len() > 1) {
        let text = format!(
            "The same directory is the target of {}.",
            named(ranks, ranks_there)
        );
        found.push(finding(Severity::Blocking, text, remedy));
    }
    for (path, ranks_there) in shared.iter().filter(|(_, list)| list.len() > 1) {
        let text = format!(
            "{path} lies on a network file system and is named by {}: they may be one directory.",
            named(ranks, ranks_there)
        );
        found.push(finding(Severity::Fault, text, remedy));
    }
    for ((_, device), ranks_there) in devices.iter().filter(|(_, list)| list.len() > 1) {
        let text = format!(
            "The device {device} is shared by {}.",
            named(ranks, ranks_there)
        );
        let remedy = "That is right where the device is what is tested; else name other targets.";
        found.push(finding(Severity::Note, text, remedy));
    }
}

fn processors(ranks: &[RankFacts], found: &mut Vec<LaunchFinding>) {
    let bound: Vec<usize> = (0..ranks.len())
        .filter(|rank| ranks[*rank].usable_cpus < ranks[*rank].cpus)
        .collect();
    if let Some(first) = bound.first() {
        let text = format!(
            "Bound to a part of the CPUs ({} of {}): {}.",
            ranks[*first].usable_cpus,
            ranks[*first].cpus,
            named(ranks, &bound)
        );
        let remedy = "A database needs a CPU of its own: '--bind-to none' (Open MPI, MPICH), \
                      '--cpu-bind=none' (srun).";
        found.push(finding(Severity::Fault, text, remedy));
    }
    let mut by_host: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (rank, one) in ranks.iter().enumerate() {
        by_host.entry(&one.host).or_default().push(rank);
    }
    for (host, there) in by_host.iter().filter(|(_, there)| there.len() > 1) {
        let text = format!(
            "{} ranks run on {host} and share its CPUs and memory.",
            there.len()
        );
        let remedy = "One rank on each host: '--map-by ppr:1:node' (Open MPI), '-ppn 1' (MPICH), \
                      '--ntasks-per-node=1' (srun).";
        found.push(finding(Severity::Note, text, remedy));
    }
}

fn uneven(ranks: &[RankFacts], found: &mut Vec<LaunchFinding>) {
    let mut compare = |what: &str, value: fn(&RankFacts) -> u64| {
        let highest = ranks.iter().map(value).max().unwrap_or(0);
        let few = |rank: &usize| value(&ranks[*rank]) as f64 * NOTABLE_RATIO < highest as f64;
        let few: Vec<usize> = (0..ranks.len()).filter(few).collect();
        if !few.is_empty() {
            let text = format!("Fewer {what} than other hosts: {}.", named(ranks, &few));
            let remedy = "Each rank has the same load; the weakest host may decide the result.";
            found.push(finding(Severity::Note, text, remedy));
        }
    };
    compare("CPUs", |one| one.cpus);
    compare("bytes of memory", |one| one.memory_bytes);
}

fn clocks(ranks: &[RankFacts], found: &mut Vec<LaunchFinding>) {
    let where_so = |is_so: &dyn Fn(&RankFacts) -> bool| -> Vec<usize> {
        (0..ranks.len())
            .filter(|rank| is_so(&ranks[*rank]))
            .collect()
    };
    let off = where_so(&|one| one.clock_offset_ms.abs() > NOTABLE_OFFSET_MS);
    if !off.is_empty() {
        let text = format!(
            "The time of day is more than {NOTABLE_OFFSET_MS:.0} ms from that of rank 0 on {}.",
            named(ranks, &off)
        );
        let remedy = "Synchronise the clocks (chrony). The load starts together all the same; the logs of the \
                      hosts do not fit each other.";
        found.push(finding(Severity::Note, text, remedy));
    }
    let slow = where_so(&|one| one.clock_uncertainty_ms > NOTABLE_UNCERTAINTY_MS);
    if !slow.is_empty() {
        let text = format!(
            "Messages to rank 0 take more than {NOTABLE_UNCERTAINTY_MS:.0} ms from {}.",
            named(ranks, &slow)
        );
        let remedy =
            "The load starts less exactly together; look for a busy host or a slow network.";
        found.push(finding(Severity::Note, text, remedy));
    }
}

#[cfg(test)]
mod tests;
