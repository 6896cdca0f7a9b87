//! A modelled array in real time: its volumes as files that real programs use, or by NBD.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::serve::{
    BlockDevices, ControlSocket, LeftInUse, LiveArray, MountError, Mounted, Served, ServedVolume,
    StartError, Store, Unmounted, mount, nbd::NbdServer,
};
use array::SECTOR_BYTES;
use array::description::{Description, PlannedArray, TracedVolume};
use config::ByteSize;
use measure::display::number::count;
use measure::histogram::LatencyHistogram;
use measure::units;
use workload::progress::StopRequest;

use crate::replay::array_of_trace::describe_array;
use crate::scenario::Scenario;
use control::listen;
use execution::{Error, Outcome, Output, results};
use following::Following;
use nbd::PreparedNbd;
use record::ServeRecord;
use store::{open_store, refused_store, report, store_not_written};

mod block;
mod control;
mod following;
mod nbd;
mod record;
pub mod state;
mod store;

pub use block::BlockScenario;
pub use control::{ask_for_event, ask_for_state};
pub use following::StateSource;
pub use nbd::NbdScenario;

/// How large a volume is where neither an option nor the array says it.
const DEFAULT_BYTES: u64 = 64 << 30;
/// How often a request to stop is looked for.
const POLL: Duration = Duration::from_millis(50);
/// The device that mounts need.
const FUSE_DEVICE: &str = "/dev/fuse";

/// What is to be served.
#[derive(Debug, Clone, Default)]
pub struct ServeScenario {
    /// The array or the disk with the settings that are changed and the events; it has no workload.
    pub array: Scenario,
    /// How many volumes.
    pub volumes: u32,
    /// The size of each; `None` for the one that the array says.
    pub size: Option<ByteSize>,
    /// Seed of the array.
    pub seed: u64,
    /// The empty directory in which the volumes are mounted; `None` to serve them otherwise.
    pub at: Option<PathBuf>,
    /// What is made of the files there, if anything.
    pub block: Option<BlockScenario>,
    /// Where they are served by NBD, if anywhere.
    pub nbd: Option<NbdScenario>,
    /// Where contents are stored; `None` for memory.
    pub store: Option<PathBuf>,
    /// Whether a new store has checksums; one that is there has what it was made with.
    pub checksums: bool,
    /// The socket on which events are asked for.
    pub control: Option<PathBuf>,
    /// Where samples, the result and a report are written, if anywhere.
    pub output: Output,
    /// How long a sample is.
    pub sample_interval: Duration,
}

/// A live array that can begin.
pub struct Prepared {
    scenario: ServeScenario,
    description: Description,
    planned: PlannedArray,
    volumes: Vec<ServedVolume>,
    nbd: Option<PreparedNbd>,
    store: Option<OpenStore>,
}

/// A store, and its path.
struct OpenStore {
    path: PathBuf,
    store: Store,
}

/// By what an array is reached.
#[derive(Default)]
struct FrontEnds {
    block: Option<BlockDevices>,
    mounted: Option<Mounted>,
    nbd: Option<NbdServer>,
    control: Option<ControlSocket>,
}

impl Prepared {
    /// Checks everything. Nothing is mounted yet, and no client is served.
    ///
    /// # Errors
    /// The description of the array breaks a rule, the place is not fit for a mount, or nothing can listen at the
    /// address.
    pub fn new(scenario: &ServeScenario) -> Result<Self, Error> {
        let (description, planned, volumes) = plan(scenario)?;
        results::check(&scenario.output)?;
        refuse_output_on_volumes(scenario)?;
        scenario.at.as_deref().map_or(Ok(()), refuse_place)?;
        if let Some(block) = &scenario.block {
            block.check(scenario.volumes)?;
        }
        let nbd = scenario.nbd.as_ref().map(PreparedNbd::new).transpose()?;
        let store = match &scenario.store {
            Some(path) => Some(OpenStore {
                store: open_store(path, &planned, &volumes, scenario.checksums)?,
                path: path.clone(),
            }),
            None => None,
        };
        Ok(Self {
            description,
            scenario: scenario.clone(),
            planned,
            volumes,
            nbd,
            store,
        })
    }

    /// What will be there, in a few lines.
    #[must_use]
    pub fn describe(&self) -> String {
        let contents = match &self.store {
            None => "kept in memory".to_owned(),
            Some(OpenStore { path, store }) => {
                let which = match store.has_contents() {
                    true => format!("those of the store {}", path.display()),
                    false => format!("kept in the new store {}", path.display()),
                };
                match store.has_checksums() {
                    true => format!("{which}, with checksums"),
                    false => which,
                }
            }
        };
        let mut text = format!(
            "{}, in real time. Its contents are {contents}.\n",
            self.description.title()
        );
        for volume in &self.volumes {
            let path = self
                .scenario
                .at
                .clone()
                .unwrap_or_default()
                .join(&volume.name);
            let size = units::size(volume.size_bytes);
            text.push_str(&format!("  {}  {size}\n", path.display()));
        }
        let notes = self.planned.notes.iter().cloned();
        let notes = notes.chain(self.planned.warning());
        for line in notes.chain(self.planned.events_in_words()) {
            text.push_str(&format!("{line}\n"));
        }
        text
    }

    /// Serves the volumes until somebody asks to `stop`. `notify` hears what breaks and is repaired, from another
    /// thread. `watched` gets where the state can be found out; what it returns is kept until the end.
    ///
    /// # Errors
    /// The volumes cannot be mounted or unmounted, or `watched` has failed.
    pub fn run<W>(
        mut self,
        stop: &StopRequest,
        notify: impl Fn(&str) + Send + Clone + 'static,
        watched: impl FnOnce(StateSource) -> Result<W, Error>,
    ) -> Result<ServeOutcome, Error> {
        let following = Following::new(
            &self.planned,
            &self.scenario.array.array,
            self.description.title(),
        );
        let (store, path) = self.store.take().map(|one| (one.store, one.path)).unzip();
        let store = store.map(|store| store.reporting(report(notify.clone())));
        let array = LiveArray::start(
            self.planned.settings.clone(),
            self.scenario.seed,
            store,
            following.watcher(notify.clone()),
        );
        let array = array.map_err(|error| not_started(error, path.as_deref()))?;
        let mut front_ends = FrontEnds::default();
        let watched = watched(StateSource::new(array.client(), following.clone()));
        let opened = match &watched {
            Ok(_) => self.open(&array, &following, &mut front_ends, notify),
            Err(_) => Ok(None),
        };
        let (mut record, opened) = match opened {
            Ok(record) => (record, Ok(())),
            Err(error) => (None, Err(error)),
        };
        while watched.is_ok()
            && opened.is_ok()
            && !stop.is_stopped()
            && !front_ends.is_unmounted()
            && !array.has_ended()
        {
            std::thread::sleep(POLL);
            record.iter_mut().for_each(ServeRecord::poll);
        }
        // File systems write what they hold back while the array is there.
        let block = front_ends.block.map(BlockDevices::take_down);
        let watched = watched.map(drop);
        drop((front_ends.control, front_ends.nbd));
        let unmounted = front_ends
            .mounted
            .map_or(Ok(Unmounted::Whole), Mounted::unmount);
        record.iter_mut().for_each(ServeRecord::end);
        let mut served = array.stop();
        watched.and(opened)?;
        if let (Some(error), Some(path)) = (served.store_error.take(), &path) {
            return Err(store_not_written(path, &error));
        }
        let at = self.scenario.at.unwrap_or_default();
        let unmounted = unmounted.map_err(|error| {
            Error::environment(
                format!("{} cannot be unmounted: {error}.", at.display()),
                "End the programs that have files open there, then unmount it with 'umount'.",
            )
        })?;
        let holders = match unmounted {
            Unmounted::Whole => None,
            Unmounted::InUse { holders } => Some(holders),
        };
        let recorded = record.map(ServeRecord::finish);
        Ok(ServeOutcome {
            recorded,
            warning: self.planned.warning(),
            served,
            at,
            holders,
            in_use: block.unwrap_or_default(),
        })
    }

    /// Mounts the volumes and listens, as far as that is asked for, and begins the record, if there is to be one,
    /// before it says so.
    fn open(
        &mut self,
        array: &LiveArray,
        following: &Following,
        front_ends: &mut FrontEnds,
        notify: impl Fn(&str),
    ) -> Result<Option<ServeRecord>, Error> {
        if let Some(path) = &self.scenario.control {
            let state = StateSource::new(array.client(), following.clone());
            let socket = listen(
                path,
                self.scenario.clone(),
                array.client(),
                following,
                state,
            )?;
            front_ends.control = Some(socket);
        }
        if let Some(at) = &self.scenario.at {
            let mounted = mount(array.client(), self.volumes.clone(), at);
            front_ends.mounted = Some(mounted.map_err(|error| not_mounted(&error))?);
            if let Some(block) = &self.scenario.block {
                front_ends.block = Some(block.open(at, &self.volumes, &notify)?);
            }
        }
        let mut listens = None;
        if let Some(nbd) = self.nbd.take() {
            listens = Some(nbd.describe(&self.volumes));
            let server = nbd.start(array.client(), &self.volumes, self.description.title());
            let server = server.map_err(StartError::Thread);
            front_ends.nbd = Some(server.map_err(|error| not_started(error, None))?);
        }
        let record = ServeRecord::begin(self, array.client(), following.clone())?;
        listens.iter().for_each(|description| notify(description));
        notify(match front_ends.mounted {
            Some(_) => "The volumes are mounted. Ctrl-C unmounts them.",
            None => "Ctrl-C ends it.",
        });
        Ok(record)
    }
}

impl FrontEnds {
    /// Whether somebody else has unmounted the volumes.
    fn is_unmounted(&self) -> bool {
        let mounted = self.mounted.as_ref();
        mounted.is_some_and(|mounted| !mounted.is_mounted())
    }
}

/// What was served.
#[derive(Debug)]
pub struct ServeOutcome {
    /// Its result and the run directory, if there is to be one, or why it could not be written.
    pub recorded: Option<Result<Outcome, Error>>,
    /// What the times are to be read with, if anything.
    pub warning: Option<String>,
    /// Times of the requests.
    pub served: Served,
    /// Where the volumes were mounted; empty if they were not.
    pub at: PathBuf,
    /// What still had files open when they were unmounted, as far as that is known; `None` when nothing had.
    pub holders: Option<Vec<String>>,
    /// File systems on volumes that were in use when they were unmounted.
    pub in_use: Vec<LeftInUse>,
}

impl std::fmt::Display for ServeOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let served = &self.served;
        let rows = [
            ("reads", &served.reads),
            ("writes", &served.writes),
            ("flushes", &served.flushes),
            ("answers later than the model says", &served.lateness),
        ];
        let is_idle = rows.iter().all(|(_, latencies)| latencies.count() == 0);
        if is_idle && served.failed == 0 {
            writeln!(f, "Nothing was read or written.")?;
        } else {
            writeln!(
                f,
                "{:34} {:>12} {:>12} {:>12} {:>12}",
                "", "number", "average ms", "p99 ms", "longest ms"
            )?;
        }
        for (name, latencies) in rows {
            let Some(average_ms) = latencies.average_ms() else {
                continue;
            };
            writeln!(
                f,
                "{name:34} {:>12} {average_ms:>12.3} {:>12.3} {:>12.3}",
                count(latencies.count()),
                latencies.quantile_ms(0.99),
                longest_ms(latencies)
            )?;
        }
        if let Some(warning) = &self.warning {
            writeln!(f, "{warning}")?;
        }
        if served.failed > 0 {
            writeln!(f, "{} failed.", units::count(served.failed, "request"))?;
        }
        let at = self.holders.as_ref().map(|holders| (&self.at, holders));
        let in_use = self.in_use.iter().map(|one| (&one.directory, &one.holders));
        for (directory, holders) in in_use.chain(at) {
            let who = match holders.is_empty() {
                true => "others".to_owned(),
                false => holders.join(", "),
            };
            writeln!(
                f,
                "{} was unmounted while {who} still had files open there: what they read and write now fails.",
                directory.display()
            )?;
        }
        Ok(())
    }
}

fn longest_ms(latencies: &LatencyHistogram) -> f64 {
    latencies.longest_ns() as f64 / 1e6
}

/// The array of a scenario with its description and its volumes.
fn plan(scenario: &ServeScenario) -> Result<(Description, PlannedArray, Vec<ServedVolume>), Error> {
    let (description, is_one_disk) = describe_array(&scenario.array)?;
    let named = (1..=scenario.volumes).map(|number| TracedVolume {
        name: format!("volume-{number}"),
        reach_bytes: DEFAULT_BYTES,
    });
    let named: Vec<TracedVolume> = named.collect();
    let whole_disk = description.one_disk_bytes().filter(|_| is_one_disk);
    let size_bytes = scenario.size.map(ByteSize::bytes).or(whole_disk);
    let (planned, ids) = description.plan_for_trace(&named, size_bytes, None)?;
    let volumes = ids.iter().zip(named).map(|(&id, volume)| {
        let settings = &planned.settings.volumes[usize::from(id.0)];
        let pool = settings.pool.as_ref();
        let pool = pool.and_then(|pool| planned.settings.pools.get(pool));
        ServedVolume {
            id,
            name: volume.name,
            size_bytes: settings.capacity_mib << 20,
            trim_bytes: pool.map(|pool| pool.page_sectors() * SECTOR_BYTES),
        }
    });
    let volumes: Vec<ServedVolume> = volumes.collect();
    Ok((description, planned, volumes))
}

/// Refuses results in a directory that a mount will hide.
fn refuse_output_on_volumes(scenario: &ServeScenario) -> Result<(), Error> {
    let Some(out) = scenario.output.named() else {
        return Ok(());
    };
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let on_volumes = scenario.block.iter().flat_map(|block| &block.directories);
    match scenario
        .at
        .iter()
        .chain(on_volumes)
        .find(|mounted| whole(out).starts_with(whole(mounted)))
    {
        None => Ok(()),
        Some(mounted) => Err(Error::usage(
            format!(
                "The results would lie in {}, where volumes are mounted.",
                mounted.display()
            ),
            "Name a directory elsewhere with --out.",
        )),
    }
}

/// Refuses a place that volumes cannot be mounted on, or would hide something.
fn refuse_place(at: &Path) -> Result<(), Error> {
    refuse_directory(at, "--at")?;
    match fs::File::options().read(true).write(true).open(FUSE_DEVICE) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::environment(
            format!(
                "Volumes are mounted through FUSE, and {FUSE_DEVICE} cannot be opened: {error}."
            ),
            "Load the kernel module (modprobe fuse), or start the container with --device /dev/fuse and \
             --cap-add SYS_ADMIN.",
        )),
    }
}

/// Refuses a directory that is not empty, named by `option`.
fn refuse_directory(at: &Path, option: &str) -> Result<(), Error> {
    let shown = at.display();
    let entries = fs::read_dir(at).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::usage(
            format!("There is no directory {shown}."),
            format!("Make it, or name another one with {option}."),
        ),
        io::ErrorKind::NotADirectory => Error::usage(
            format!("{shown} is no directory."),
            format!("Name an empty directory with {option}."),
        ),
        // What a killed process has left mounted answers so.
        io::ErrorKind::NotConnected => Error::environment(
            format!("{shown} is still mounted by a process that has ended."),
            format!(
                "Unmount it: umount {shown}. Loop devices over its files (losetup --list) are unmounted and detached before."
            ),
        ),
        _ => Error::environment(
            format!("{shown} cannot be read: {error}."),
            format!("Name a directory that you may read and write with {option}."),
        ),
    })?;
    match entries.count() {
        0 => Ok(()),
        _ => Err(Error::usage(
            format!("{shown} is not empty, and a mount would hide what is there."),
            format!("Name an empty directory with {option}."),
        )),
    }
}

fn not_started(error: StartError, store: Option<&Path>) -> Error {
    match error {
        StartError::Array(error) => Error::usage(error.to_string(), ""),
        StartError::Store(error) => refused_store(store.unwrap_or(Path::new("")), error),
        StartError::Thread(error) => Error::environment(
            format!("The thread of the array cannot be started: {error}."),
            "See how many threads the user may have (ulimit -u).",
        ),
    }
}

fn not_mounted(error: &MountError) -> Error {
    let MountError::System { path, error } = error;
    Error::environment(
        format!(
            "The volumes cannot be mounted at {}: {error}.",
            path.display()
        ),
        "As an ordinary user install fusermount3 (package fuse3), and own the directory; otherwise run as root.",
    )
}
