//! What a workload adds to the reports of its runs, as data: reports draw it without knowing which
//! workload it is from.

use super::Table;
use crate::metric::Unit;
use crate::result::RunResult;

/// What a workload adds to the report of one result. It follows from the result alone, so that the
/// report of an old run can be made again.
#[derive(Clone, Debug, Default)]
pub struct Contribution {
    /// What its load is called in general sentences.
    pub words: LoadWords,
    /// The load that was judged, such as `400 IOPS (16 clients)`; `None`: the achieved IOPS.
    pub load: Option<String>,
    /// Figures at the top of a report, before those of the storage.
    pub tiles: Vec<Tile>,
    /// Metrics that runs are compared by, besides those of the storage.
    pub metrics: &'static [ResultMetric],
    /// Sections of its own.
    pub sections: Vec<Section>,
    /// Whether one of them shows the operations, so that they have no general table.
    pub shows_operations: bool,
    /// What one of its operations is called where runs are compared by the latency of each; `None`:
    /// they are not.
    pub compared_operation: Option<&'static str>,
    /// Findings and recommendations. One with the identifier of a general one takes its place.
    pub advice: Vec<Advice>,
    /// The command that checks the file of the first error, if it can be checked.
    pub check_command: Option<String>,
    /// Names and values of what was chosen for the run beside its settings.
    pub chosen: Vec<(&'static str, String)>,
    /// Whether Jetstress has a report of such a run.
    pub has_jetstress_report: bool,
    /// What must be said with every result, as sentences.
    pub notice: Option<&'static str>,
}

/// What the load of a workload is called in general sentences.
#[derive(Clone, Copy, Debug)]
pub struct LoadWords {
    /// One of those who make it, such as `thread`; several with an `s`.
    pub client: &'static str,
    /// What less of it would be fewer of, such as `clients`.
    pub fewer: &'static str,
    /// With what a run finds the load that the storage sustains, such as `a lower --rate`.
    pub to_sustain: &'static str,
    /// How to find the most load, as a sentence.
    pub to_find_most: &'static str,
}

impl Default for LoadWords {
    fn default() -> Self {
        Self {
            client: "thread",
            fewer: "clients",
            to_sustain: "less load",
            to_find_most: "A run with more load shows the maximum.",
        }
    }
}

/// A figure at the top of a report.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Label above the figure.
    pub name: &'static str,
    /// The figure, in `unit`.
    pub value: f64,
    /// Unit of `value`, whole: `short_unit` is what is shown.
    pub unit: Unit,
    /// The unit as it stands behind the figure, where the name says part of it.
    pub short_unit: &'static str,
    /// What else is to be known of it; may be empty.
    pub beside: String,
}

/// A metric of whole results. Samples are merged in them already, so it needs no rule for that.
#[derive(Clone, Copy, Debug)]
pub struct ResultMetric {
    /// The stable name; a metric of several runs is one row.
    pub id: &'static str,
    /// How reports call it.
    pub label: &'static str,
    /// What it means, as a sentence.
    pub meaning: &'static str,
    /// Unit in which reports show the value.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Its value; `None` when it was not measured.
    pub value: fn(&RunResult) -> Option<f64>,
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better, as with a rate.
    Higher,
    /// Less is better, as with a latency.
    Lower,
}

/// A section of a report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The stable name, as in the `id` of its head on the page.
    pub id: &'static str,
    /// Heading above the section.
    pub title: &'static str,
    /// Paragraphs; on the page before the tables, in the terminal after them.
    pub sentences: Vec<String>,
    /// Tables with a heading each, in the order in which they are shown.
    pub parts: Vec<Part>,
    /// Names and values on the page, folded away below their title.
    pub folded: Option<(&'static str, Vec<(String, String)>)>,
}

/// A table of a [`Section`] with its head. Empty ones are left out.
#[derive(Clone, Debug)]
pub struct Part {
    /// Heading above the table.
    pub title: &'static str,
    /// Shown unless it has no rows.
    pub table: Table,
    /// Where it is shown.
    pub medium: Medium,
}

/// Where a part of a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// On the page and in the terminal.
    Both,
    /// On the page alone.
    Page,
    /// In the terminal alone.
    Terminal,
}

/// A finding with its recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Which rule gave it; programs compare this, people read the title.
    pub id: AdviceId,
    /// The finding in a few words.
    pub title: String,
    /// Why, with the numbers, and what to do. What stands between backticks is a command.
    pub text: String,
}

impl Advice {
    /// The finding of rule `id`: a title of a few words, and a text with the recommendation.
    pub fn new(id: AdviceId, title: &str, text: String) -> Self {
        Self {
            id,
            title: title.to_string(),
            text,
        }
    }
}

/// Which rule gave an [`Advice`]: the stable name, as in the `id` of its element on the page. A
/// workload may declare its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdviceId(pub &'static str);

impl AdviceId {
    /// Requests failed, or pages are bad.
    pub const ERRORS: Self = Self("errors");
    /// The run ran out of space.
    pub const OUT_OF_SPACE: Self = Self("out-of-space");
    /// The database server did not come back.
    pub const SERVER_UNAVAILABLE: Self = Self("server-unavailable");
    /// The database server ended the run for a reason that is not the storage's.
    pub const SERVER_SIDE: Self = Self("server-side");
    /// Consistency checks of the database failed.
    pub const INCONSISTENT: Self = Self("inconsistent");
    /// A device counted errors, or reports that it fails.
    pub const DEVICE_HEALTH: Self = Self("device-health");
    /// The run was stopped.
    pub const INTERRUPTED: Self = Self("interrupted");
    /// One database, or a few, are slower than the others.
    pub const DATABASE_DIFFERS: Self = Self("database-differs");
    /// Database reads are slow, and the host shows no block device.
    pub const NO_DEVICE: Self = Self("no-device");
    /// Database reads are slow in a modelled array: how busy its disks are.
    pub const DISKS_BUSY: Self = Self("disks-busy");
    /// Parts of a modelled array failed as its description asks for.
    pub const PLANNED_FAILURE: Self = Self("planned-failure");
    /// Database reads are slow in the device.
    pub const DEVICE_SLOW: Self = Self("device-slow");
    /// The process was paused, or the machine suspended.
    pub const PAUSED: Self = Self("paused");
    /// The host's CPUs are busy, which may be why requests are slow.
    pub const HOST_BUSY: Self = Self("host-busy");
    /// Database reads are slow between host and device.
    pub const QUEUE_ABOVE_DEVICE: Self = Self("queue-above-device");
    /// Log writes are slow, database reads are not.
    pub const LOG_SLOW: Self = Self("log-slow");
    /// Log and database share a device, and both are slow.
    pub const SHARED_DEVICE: Self = Self("shared-device");
    /// Page faults waited for free pages of the cache.
    pub const CACHE_TOO_SMALL: Self = Self("cache-too-small");
    /// It is not shown that the storage decided.
    pub const NOT_SHOWN: Self = Self("not-shown-to-be-the-storage");
    /// The transactions were not the mix that was asked for.
    pub const WRONG_MIX: Self = Self("wrong-mix");
    /// A cache may have been measured.
    pub const CACHED: Self = Self("cached");
    /// The load was far above the one that was asked for.
    pub const LOAD_ABOVE_TARGET: Self = Self("load-above-target");
    /// The target rate was missed at high latency.
    pub const SATURATED: Self = Self("saturated");
    /// The target rate was missed at low latency.
    pub const TARGET_MISSED: Self = Self("target-missed");
    /// At a held rate, operations wait before they start.
    pub const WAITS_BEFORE_START: Self = Self("waits-before-start");
    /// Single samples exceed their limit.
    pub const LATENCY_SPIKES: Self = Self("latency-spikes");
    /// A single request took long, and every level was met.
    pub const LONG_REQUEST: Self = Self("long-request");
    /// The 99th percentile exceeds its limit.
    pub const TAIL_LATENCY: Self = Self("tail-latency");
    /// The settings do not let the workload do its work.
    pub const SETTINGS: Self = Self("settings");
    /// Other programs use the devices.
    pub const OTHER_IO: Self = Self("other-io");
    /// The run did not reach steady state.
    pub const NOT_STEADY: Self = Self("not-steady");
    /// The run is too short to sign off storage.
    pub const SHORT_RUN: Self = Self("short-run");
    /// Background maintenance moves most of the data.
    pub const MAINTENANCE_SHARE: Self = Self("maintenance-share");
    /// How much of the nearest limit is used.
    pub const HEADROOM: Self = Self("headroom");
}
