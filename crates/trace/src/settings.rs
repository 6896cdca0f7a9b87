//! Settings of a replay, whose paths begin with `trace.`.

use super::format::TraceFormat;
use config::{
    ByteSize, Choice, Format, Layers, Settings, Source, TimeSpan, Value, choice, or_word, settings,
    within,
};

/// Lines of a latency log stand in the order of their ends, so their begins are out of order by as
/// many lines as there were I/Os at once.
const LOG_WINDOW: u32 = 1 << 16;

/// What the settings have as their source.
const OURS: &str = "Project default.";

settings! {
    /// How a block trace is replayed.
    pub struct TraceSettings {
        /// The format; "auto" recognises it.
        pub format: FormatChoice = FormatChoice::Auto, source OURS;
        /// "open" keeps arrival times, "closed" sends a request when another has ended; "auto" is
        /// open where the trace has arrival times.
        pub mode: ReplayMode = ReplayMode::Auto, source OURS;
        /// Requests at once in a closed loop. --threads means the same.
        pub outstanding: u32 = 1, as within(1..=65_536), source OURS;
        /// Most requests inside the array at once when arrival times are kept. What arrives beyond
        /// waits at the host, and its response time counts from its arrival.
        pub queue_limit: u32 = 65_536, as within(1..=1_048_576), source OURS;
        /// Arrival and think times are divided by it: 2 brings twice the load.
        pub speed: f64 = 1.0, as within(0.001..=1000.0), source OURS;
        /// Whether a request beyond its volume wraps to the start of the volume.
        pub wrap: bool = false, source OURS;
        /// Requests that stand out of order by at most so many lines are put in order. Latency logs
        /// of fio are always sorted.
        pub sort_window: u32 = 0, as within(0..=10_000_000), source OURS;
        /// When a request of an event trace arrives: "D" when it was issued to the driver, "Q" when
        /// it was queued.
        pub blkparse_action: BlkparseAction = BlkparseAction::Issued, source OURS;
        /// Size of each volume that the array makes for the trace; "auto" is what the array says, or
        /// as far as the trace reaches.
        pub volume_size: Option<ByteSize> = None,
            as or_word("auto", within(ByteSize::mib(1)..=ByteSize(1 << 56))), source OURS;
        /// How the volumes were filled before the trace; the solid-state disks below them were written
        /// in the same way, unless `array.ssds.history` says otherwise. What was never written is read
        /// without any disk.
        pub first_write: FirstWriteOfTrace = FirstWriteOfTrace::Auto, source OURS;
        /// Length of a sample; "auto" is a round time of which the trace has some forty.
        pub sample_interval: Option<TimeSpan> = None,
            as or_word("auto", within(TimeSpan::millis(1)..=TimeSpan::seconds(86_400))),
            source OURS;
    }
}

choice! {
    /// The format of a trace.
    pub enum FormatChoice {
        /// The format that the file looks like.
        Auto = "auto",
        /// Proofload's own CSV, with a head that names the columns.
        Csv = "csv",
        /// An I/O log of fio.
        FioIolog = "fio-iolog",
        /// A latency log of fio.
        FioLog = "fio-log",
        /// The text of blkparse.
        Blkparse = "blkparse",
    }
}

choice! {
    /// Whether requests come by the clock (open) or after earlier ones (closed).
    pub enum ReplayMode {
        /// Open where the trace has arrival times.
        Auto = "auto",
        /// Requests come when the trace says.
        Open = "open",
        /// A request comes when another has ended and its client has thought.
        Closed = "closed",
    }
}

choice! {
    /// When a request of an event trace arrives.
    pub enum BlkparseAction {
        /// When it was queued.
        Queued = "Q",
        /// When it was issued to the driver.
        Issued = "D",
    }
}

choice! {
    /// How the volumes of a trace were filled before it.
    pub enum FirstWriteOfTrace {
        /// In one run of ascending addresses, and solid-state disks as their descriptions say.
        Auto = "auto",
        /// In one run of ascending addresses.
        Sequential = "sequential",
        /// By writes at random addresses, solid-state disks for so long that writes cost the same for
        /// ever.
        Random = "random",
        /// Not at all: nothing on them was ever written.
        None = "none",
    }
}

impl FormatChoice {
    /// The format that is asked for; `None` where it is to be recognised.
    #[must_use]
    pub fn format(self) -> Option<TraceFormat> {
        match self {
            Self::Auto => None,
            Self::Csv => Some(TraceFormat::Csv),
            Self::FioIolog => Some(TraceFormat::FioIolog),
            Self::FioLog => Some(TraceFormat::FioLog),
            Self::Blkparse => Some(TraceFormat::Blkparse),
        }
    }
}

impl BlkparseAction {
    /// The letter that blkparse prints.
    #[must_use]
    pub fn letter(self) -> &'static str {
        Choice::name(self)
    }
}

impl TraceSettings {
    /// How many requests are held back to put them in order.
    #[must_use]
    pub fn sort_window_of(&self, format: TraceFormat) -> usize {
        let usual = match format {
            TraceFormat::FioLog => LOG_WINDOW,
            _ => 0,
        };
        self.sort_window.max(usual) as usize
    }

    /// Changes one setting, `key` without its section.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what would be right.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        static TRACE: Format = Format::plain("trace");
        let source = Source::value("--set", key, text);
        match Layers::join(&TRACE, &[source]).read(Some(self)) {
            Ok(document) => {
                *self = document.settings;
                Ok(())
            }
            Err(error) => {
                let sentences = error.diagnostics.iter().map(|one| match &one.help {
                    Some(help) => format!("{}; {help}", one.message),
                    None => one.message.clone(),
                });
                Err(sentences.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// Every setting as dotted path and TOML literal.
    #[must_use]
    pub fn literals(&self) -> Vec<(String, String)> {
        let Value::Table(entries) = self.to_value() else {
            return Vec::new();
        };
        let entries = entries.into_iter();
        entries
            .map(|(key, value)| (format!("trace.{key}"), value.literal()))
            .collect()
    }

    /// The reference of these settings, as rows of a table.
    #[must_use]
    pub fn reference() -> String {
        let literals = Self::default().literals().into_iter();
        let fields = Self::declaration().fields.into_iter();
        let rows = literals.zip(fields).map(|((path, default), field)| {
            format!("| `{path}` | `{default}` | {} |\n", field.meaning)
        });
        rows.collect()
    }
}
