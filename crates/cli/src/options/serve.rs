//! The options of `serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, value_parser};
use config::{ByteSize, TimeSpan};
use monitor::serving::ServingWanted;
use proofload::documents::DocumentKind;
use proofload::scripts::Script;
use proofload::serve::{BlockScenario, NbdScenario, ServeScenario};
use proofload::{Error, Output, Scenario};

use super::load::settings;

/// Shorter samples would disturb what is served.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(100);
/// What has no place beside `--status`.
const OTHERS: [&str; 21] = [
    "array",
    "at",
    "block",
    "mkfs",
    "mount",
    "nbd",
    "nbd_certificates",
    "store",
    "checksums",
    "volumes",
    "size",
    "event",
    "script",
    "control",
    "warp",
    "set",
    "seed",
    "live",
    "metrics",
    "out",
    "sample_interval",
];

/// Options of `serve`.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("front ends").args(["at", "nbd", "status"]).required(true).multiple(true)))]
#[command(after_help = "Examples:
  proofload serve msa2050 --at /mnt/array
  proofload serve msa2050 --at /mnt/array --volumes 2 --size 20GiB --event '10m disk-fail 3'
  proofload serve msa2050 --at /mnt/array --size 20GiB --store /var/lib/array
  proofload serve msa2050 --at /mnt/array --size 20GiB --mkfs xfs --mount /mnt/mail
  proofload serve msa2050 --at /mnt/array --script rebuild-under-load --control /run/array.socket
  proofload serve sas-10k-900gb --at /mnt/disk --event '1m disk-slow 0 x20 for 2m'
  proofload serve msa2050 --at /mnt/array --live --metrics 9464
  proofload serve msa2050 --at /mnt/array --size 20GiB --out results
  proofload serve --status /run/array.socket --json
  proofload serve msa2050 --nbd unix:array.sock
  proofload serve msa2050 --nbd 0.0.0.0:10809 --nbd-certificates /etc/pki/proofload

Exit status:
    0  it was ended by Ctrl-C, or the volumes were unmounted; the state was printed
    2  usage: nothing was mounted or served
    3  environment: the volumes cannot be mounted, attached or unmounted, or the address is in use;
       with --status: no array answers")]
pub struct ServeOptions {
    /// A bundled array or disk (see `proofload list`), or the path of a description.
    #[arg(required_unless_present = "status")]
    pub array: Option<String>,
    /// Empty directory in which the volumes are mounted as files.
    #[arg(long, value_name = "DIR")]
    pub at: Option<PathBuf>,
    /// Attach the files to loop devices with direct I/O, as root, and print the names of those.
    #[arg(long, requires = "at")]
    pub block: bool,
    /// Make a file system of this type, such as xfs, on each of the loop devices; one that a store has is kept.
    #[arg(long, value_name = "TYPE", requires = "at")]
    pub mkfs: Option<String>,
    /// Mount the loop devices on these empty directories, one for each volume.
    #[arg(long, value_name = "DIR,...", value_delimiter = ',', requires = "at")]
    pub mount: Vec<PathBuf>,
    /// Serve the volumes by NBD, alone or together with --at: unix:PATH or HOST:PORT.
    #[arg(long, value_name = "ADDRESS")]
    pub nbd: Option<String>,
    /// Encrypt connections of NBD with server-cert.pem and server-key.pem in this directory; with ca-cert.pem
    /// there, clients need a certificate by that authority. Addresses that other machines reach need it.
    #[arg(long, value_name = "DIR", requires = "nbd")]
    pub nbd_certificates: Option<PathBuf>,
    /// Directory in which contents are stored, disk by disk, so that they can be served again; made where there is
    /// none [default: memory, until the end].
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Keep a checksum of each sector apart from it in a new store: what a disk gives back wrong is computed from the
    /// other disks, or an I/O error. A store goes on with what it was made with.
    #[arg(long, requires = "store")]
    pub checksums: bool,
    /// How many volumes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=1024))]
    pub volumes: u32,
    /// The size of each [default: what the array says, or 64GiB].
    #[arg(long, value_name = "SIZE", value_parser = ByteSize::parse)]
    pub size: Option<ByteSize>,
    /// Something that breaks or is repaired, such as '10m disk-fail 3'; may be given several times.
    #[arg(long, value_name = "EVENT")]
    pub event: Vec<String>,
    /// Events at times, and the settings they need: a bundled script (see `proofload list scripts`), or the path of
    /// one.
    #[arg(long, value_name = "SCRIPT")]
    pub script: Option<String>,
    /// Socket on which `proofload event` asks for events; one that a killed server has left is replaced.
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
    /// Let rebuilds, scrubs and moves between tiers go on N times as fast, and requests as fast as before.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    pub warp: Option<u32>,
    /// Print the state of the array that is served with this socket for --control, and serve nothing.
    #[arg(long, value_name = "PATH", conflicts_with_all = OTHERS)]
    pub status: Option<PathBuf>,
    /// With --status: print it as JSON.
    #[arg(long, requires = "status")]
    pub json: bool,
    /// Show the state of the array over the whole terminal. 'q' leaves the view and the array is still served.
    #[arg(long)]
    pub live: bool,
    /// Serve the state to Prometheus at http://ADDRESS/metrics. A port alone is for this host only.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Write samples, the result and a report to this directory, which is made, or is empty.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// With --out: how long a sample is.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = sample_interval, requires = "out")]
    pub sample_interval: TimeSpan,
    /// Change a setting of the array, such as array.pool.ssd_count=4; may be given several times.
    #[arg(long, value_name = "PATH.TO.KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed of the random number generator; the same seed makes the same choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// The length of a sample.
fn sample_interval(text: &str) -> Result<TimeSpan, String> {
    let parsed = TimeSpan::parse(text).map_err(|error| error.to_string())?;
    match parsed.duration() >= SHORTEST_SAMPLE {
        true => Ok(parsed),
        false => Err(format!(
            "a sample lasts {} ms at least",
            SHORTEST_SAMPLE.as_millis()
        )),
    }
}

impl ServeOptions {
    /// What is wanted beside the volumes.
    pub fn wanted(&self) -> ServingWanted {
        ServingWanted {
            metrics: self.metrics.clone(),
            live: self.live,
        }
    }

    /// What is to be served.
    ///
    /// # Errors
    /// A `--set` without a value, an `--event` that is none.
    pub fn scenario(&self) -> Result<ServeScenario, Error> {
        let script = match &self.script {
            Some(name) => Some(Script::load(&[DocumentKind::Script.find(name)?])?),
            None => None,
        };
        let (mut set, mut lines) = script
            .map(|script| (script.settings, script.events))
            .unwrap_or_default();
        set.extend(self.set.iter().cloned());
        set.extend(self.warp.map(|warp| format!("array.backend.warp={warp}")));
        lines.extend(self.event.iter().cloned());
        let array = Scenario {
            array: self.array.clone().unwrap_or_default(),
            settings: settings(&set)?,
            ..Scenario::default()
        };
        let mut events = lines.iter();
        Ok(ServeScenario {
            array: events.try_fold(array, |array, line| array.with_event(line))?,
            volumes: self.volumes,
            size: self.size,
            seed: self.seed,
            at: self.at.clone(),
            store: self.store.clone(),
            checksums: self.checksums,
            control: self.control.clone(),
            output: match &self.out {
                Some(out) => Output::Directory(out.clone()),
                None => Output::Memory,
            },
            sample_interval: self.sample_interval.duration(),
            block: self.block(),
            nbd: self.nbd.clone().map(|address| NbdScenario {
                address,
                certificates: self.nbd_certificates.clone(),
            }),
        })
    }
}

impl ServeOptions {
    /// A file system or a mount needs a block device, whether it is asked for or not.
    fn block(&self) -> Option<BlockScenario> {
        let is_asked_for = self.block || self.mkfs.is_some() || !self.mount.is_empty();
        is_asked_for.then(|| BlockScenario {
            file_system: self.mkfs.clone(),
            directories: self.mount.clone(),
        })
    }
}

/// Options of `event`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  proofload event /run/array.socket disk-fail 3
  proofload event /run/array.socket disk-slow 5 x20 for 2m
  proofload event /run/array.socket power-cut for 30s

Exit status:
    0  it has happened
    2  usage: the array has no such event, and nothing happened
    3  environment: no array answers")]
pub struct EventOptions {
    /// The socket that `proofload serve --control` was given.
    pub socket: PathBuf,
    /// What is to happen, such as `disk-fail 3`.
    #[arg(required = true, value_name = "EVENT")]
    pub event: Vec<String>,
}
