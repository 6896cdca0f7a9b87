//! The `trace.` settings.

use super::format::TraceFormat;
use crate::profile::setting::{
    Choice, Named, OrWord, Scalar, Setting, SettingValue, SettingVisitor, Switch, Within,
};
use crate::profile::{ByteSize, TimeSpan, scalar_of_text};

/// Lines of a latency log stand in the order of their ends, so their begins are out of order by as
/// many lines as there were I/Os at once.
const LOG_WINDOW: u32 = 1 << 16;

/// How a trace is replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceSettings {
    /// The format, where it is not to be recognised.
    pub format: FormatChoice,
    /// By arrival times, or in a closed loop.
    pub mode: ReplayMode,
    /// Requests of a closed loop at once.
    pub outstanding: u32,
    /// Most requests inside the array at once when arrival times are kept.
    pub queue_limit: u32,
    /// Arrival and think times are divided by this.
    pub speed: f64,
    /// Whether requests beyond their volume begin anew at its front.
    pub wrap: bool,
    /// Lines so far apart are put into the order of their times.
    pub sort_window: u32,
    /// When a request of an event trace arrives.
    pub blkparse_action: BlkparseAction,
    /// Size of each volume; otherwise as far as the trace reaches, or as the array says.
    pub volume_size: Option<ByteSize>,
    /// How the volumes were filled before.
    pub first_write: FirstWriteOfTrace,
    /// Length of a sample.
    pub sample_interval: Option<TimeSpan>,
}

/// The format of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FormatChoice {
    /// As it looks.
    #[default]
    Auto,
    /// This one.
    Is(TraceFormat),
}

/// Open or closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplayMode {
    /// Open where the trace has arrival times.
    #[default]
    Auto,
    /// Requests come when the trace says.
    Open,
    /// A request comes when another has ended and its client has thought.
    Closed,
}

/// When a request of an event trace arrives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BlkparseAction {
    /// When it was queued.
    Queued,
    /// When it was issued to the driver.
    #[default]
    Issued,
}

/// How the volumes of a trace were filled before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FirstWriteOfTrace {
    /// In one run of ascending addresses.
    #[default]
    Sequential,
    /// Here and there.
    Random,
    /// Not at all.
    None,
}

impl Named for FormatChoice {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("csv", Self::Is(TraceFormat::Csv)),
        ("fio-iolog", Self::Is(TraceFormat::FioIolog)),
        ("fio-log", Self::Is(TraceFormat::FioLog)),
        ("blkparse", Self::Is(TraceFormat::Blkparse)),
    ];
}

impl Named for ReplayMode {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("open", Self::Open),
        ("closed", Self::Closed),
    ];
}

impl Named for BlkparseAction {
    const NAMES: &'static [(&'static str, Self)] = &[("Q", Self::Queued), ("D", Self::Issued)];
}

impl Named for FirstWriteOfTrace {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("sequential", Self::Sequential),
        ("random", Self::Random),
        ("none", Self::None),
    ];
}

impl BlkparseAction {
    /// The letter that blkparse prints.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "Q",
            Self::Issued => "D",
        }
    }
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self {
            format: FormatChoice::Auto,
            mode: ReplayMode::Auto,
            outstanding: 1,
            queue_limit: 65_536,
            speed: 1.0,
            wrap: false,
            sort_window: 0,
            blkparse_action: BlkparseAction::Issued,
            volume_size: None,
            first_write: FirstWriteOfTrace::Sequential,
            sample_interval: None,
        }
    }
}

/// What our settings have as their source.
const OURS: &str = "Ours.";

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

    /// Walks over every setting.
    pub fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section("trace", "How a block trace is replayed.");
        let mut one = |key, value: &mut dyn SettingValue, meaning| {
            let source = OURS;
            v.setting(Setting {
                key,
                value,
                meaning,
                source,
            });
        };
        one(
            "format",
            &mut Choice(&mut self.format),
            "The format; \"auto\" recognises it.",
        );
        one(
            "mode",
            &mut Choice(&mut self.mode),
            "\"open\" keeps arrival times, \"closed\" sends a request when another has ended; \
             \"auto\" is open where the trace has arrival times.",
        );
        one(
            "outstanding",
            &mut Within(&mut self.outstanding, 1..=65_536),
            "Requests at once in a closed loop. --threads means the same.",
        );
        one(
            "queue_limit",
            &mut Within(&mut self.queue_limit, 1..=1_048_576),
            "Most requests inside the array at once when arrival times are kept. What arrives \
             beyond waits at the host, and its response time counts from its arrival.",
        );
        one(
            "speed",
            &mut Within(&mut self.speed, 0.001..=1000.0),
            "Arrival and think times are divided by it: 2 brings twice the load.",
        );
        one(
            "wrap",
            &mut Switch(&mut self.wrap),
            "Whether a request beyond its volume begins anew at the front of the volume.",
        );
        one(
            "sort_window",
            &mut Within(&mut self.sort_window, 0..=10_000_000),
            "Requests that stand out of order by at most so many lines are put in order. Latency \
             logs of fio are always sorted.",
        );
        one(
            "blkparse_action",
            &mut Choice(&mut self.blkparse_action),
            "When a request of an event trace arrives: \"D\" when it was issued to the driver, \
             \"Q\" when it was queued.",
        );
        self.visit_volumes(v);
    }

    fn visit_volumes(&mut self, v: &mut dyn SettingVisitor) {
        let mut one = |key, value: &mut dyn SettingValue, meaning| {
            let source = OURS;
            v.setting(Setting {
                key,
                value,
                meaning,
                source,
            });
        };
        one(
            "volume_size",
            &mut OrWord {
                word: "auto",
                value: &mut self.volume_size,
                range: ByteSize::mib(1)..=ByteSize(1 << 56),
            },
            "Size of each volume that the array makes for the trace; \"auto\" is what the array \
             says, or as far as the trace reaches.",
        );
        one(
            "first_write",
            &mut Choice(&mut self.first_write),
            "How the volumes were filled before the trace: \"sequential\", \"random\" or \
             \"none\". What was never written is read without any disk.",
        );
        one(
            "sample_interval",
            &mut OrWord {
                word: "auto",
                value: &mut self.sample_interval,
                range: TimeSpan::millis(1)..=TimeSpan::seconds(86_400),
            },
            "Length of a sample; \"auto\" is a round time of which the trace has some forty.",
        );
    }

    /// Changes one setting, `key` without its section.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what would be right.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let mut setter = Setter {
            key,
            scalar: scalar_of_text(text),
            outcome: None,
            known: Vec::new(),
        };
        self.visit(&mut setter);
        match setter.outcome {
            Some(outcome) => outcome,
            None => Err(format!(
                "[trace] has no setting '{key}'; its settings are {}",
                setter.known.join(", ")
            )),
        }
    }

    /// Every setting as dotted path and TOML literal.
    #[must_use]
    pub fn literals(&self) -> Vec<(String, String)> {
        let mut lister = Lister(Vec::new());
        self.clone().visit(&mut lister);
        lister.0
    }

    /// The reference of these settings, as rows of a table.
    #[must_use]
    pub fn reference() -> String {
        let mut writer = ReferenceWriter(String::new());
        Self::default().visit(&mut writer);
        writer.0
    }
}

struct Setter<'a> {
    key: &'a str,
    scalar: Scalar,
    outcome: Option<Result<(), String>>,
    known: Vec<&'static str>,
}

impl SettingVisitor for Setter<'_> {
    fn section(&mut self, _path: &'static str, _meaning: &'static str) {}

    fn setting(&mut self, setting: Setting<'_>) {
        self.known.push(setting.key);
        if setting.key == self.key {
            self.outcome = Some(setting.value.set(&self.scalar));
        }
    }
}

struct Lister(Vec<(String, String)>);

impl SettingVisitor for Lister {
    fn section(&mut self, _path: &'static str, _meaning: &'static str) {}

    fn setting(&mut self, setting: Setting<'_>) {
        self.0
            .push((format!("trace.{}", setting.key), setting.value.literal()));
    }
}

struct ReferenceWriter(String);

impl SettingVisitor for ReferenceWriter {
    fn section(&mut self, _path: &'static str, _meaning: &'static str) {}

    fn setting(&mut self, setting: Setting<'_>) {
        let (key, default) = (setting.key, setting.value.literal());
        self.0 += &format!("| `trace.{key}` | `{default}` | {} |\n", setting.meaning);
    }
}
