//! Settings that a scenario changes: a key and a value.

use std::fmt;

use config::Source;
use workload::{LoadOption, Workload};

use execution::Error;

/// What the paths of the array's settings begin with.
const ARRAY: &str = "array.";

/// What the paths of the settings of a replay begin with.
const TRACE: &str = "trace.";

/// Names a setting, whatever its value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The profile or the trace itself; for axes of a sweep.
    Workload,
    /// The array itself; for axes of a sweep.
    Array,
    /// Length of the measured phase.
    Duration,
    /// Sessions over all databases, or "auto"; users of a brokerage.
    Threads,
    /// Users of a brokerage.
    Users,
    /// The rate to hold, per second.
    Rate,
    /// The rate of transactions to hold, per second, of a workload that otherwise holds one of I/O.
    RateOfTransactions,
    /// Number of databases over which the load is spread.
    Databases,
    /// Number of mailboxes over all databases.
    Mailboxes,
    /// Data over all databases.
    TargetSize,
    /// Seed of the random number generator.
    Seed,
    /// Which tests a run on real storage makes.
    Test,
    /// A dotted path into the profile, below `array.` into the description of the array, or below
    /// `trace.` into the settings of a replay.
    Path(String),
}

/// The keys that have a name of their own on the command line.
const NAMED: [(&str, Key); 12] = [
    ("workload", Key::Workload),
    ("array", Key::Array),
    ("duration", Key::Duration),
    ("threads", Key::Threads),
    ("users", Key::Users),
    ("rate", Key::Rate),
    ("rate-transactions", Key::RateOfTransactions),
    ("databases", Key::Databases),
    ("mailboxes", Key::Mailboxes),
    ("target-size", Key::TargetSize),
    ("seed", Key::Seed),
    ("test", Key::Test),
];

impl Key {
    /// The key that `name` stands for: a name such as `threads`, or a path.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let named = NAMED.into_iter().find(|(known, _)| *known == name);
        named.map_or_else(|| Self::Path(name.to_owned()), |(_, key)| key)
    }

    /// Whether it is a setting of the array, or an event in it.
    #[must_use]
    pub fn is_of_array(&self) -> bool {
        let Self::Path(path) = self else {
            return false;
        };
        path.starts_with(ARRAY) || path == "event" || path.starts_with("event.")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMED.iter().find(|(_, key)| key == self);
        f.write_str(match (self, named) {
            (Self::Path(path), _) => path,
            (_, Some((name, _))) => name,
            (_, None) => "",
        })
    }
}

/// The value of a setting: TOML as it is written. What is not TOML counts as text, so that `15s`
/// and `raid6` need no quotes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(String);

impl Value {
    /// The value that a text stands for.
    #[must_use]
    pub fn of_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number that it is, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.0.trim().parse().ok()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

macro_rules! value_from {
    ($($type:ty),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self(toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string()))
            }
        })*
    };
}

value_from!(bool, f64, i32, i64, u32);

impl From<toml::Value> for Value {
    fn from(value: toml::Value) -> Self {
        Self(value.to_string())
    }
}

/// A setting with the value that it shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which setting is meant.
    pub key: Key,
    /// The value that it shall have.
    pub value: Value,
}

impl Setting {
    /// The setting `key` with this value.
    pub fn new(key: Key, value: impl Into<Value>) -> Self {
        let value = value.into();
        Self { key, value }
    }

    /// A setting by its path, such as `mail.databases` or `array.pool.ssd_count`.
    pub fn at(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(Key::Path(path.into()), value)
    }

    /// Reads `path.to.key=value`.
    ///
    /// # Errors
    /// When there is no value.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let Some((path, value)) = text.split_once('=') else {
            return Err(Error::usage(
                format!("--set {text} has no value."),
                format!("Write --set {}=VALUE.", text.trim()),
            ));
        };
        let key = Key::Path(path.trim().to_owned());
        Ok(Self::new(key, Value::of_text(value)))
    }

    /// Its path below `array.`, or that of an event, as a source of the array's description.
    pub(crate) fn of_array(&self) -> Option<Source> {
        let Key::Path(path) = &self.key else {
            return None;
        };
        self.key.is_of_array().then(|| {
            let path = path.strip_prefix(ARRAY).unwrap_or(path);
            Source::value("--set array.", path, self.value.as_str())
        })
    }

    /// Its path below `trace.`.
    pub(crate) fn trace_key(&self) -> Option<&str> {
        match &self.key {
            Key::Path(path) => path.strip_prefix(TRACE),
            _ => None,
        }
    }

    /// It as a source of a profile of this workload; `None` when it is none of a profile's settings
    /// by itself.
    pub(crate) fn of_profile(&self, workload: &dyn Workload) -> Option<Source> {
        let of = |option| workload.setting_of(option);
        let (option, path) = match &self.key {
            Key::Path(_) if self.key.is_of_array() => return None,
            Key::Path(path) => return Some(Source::value("--set", path, self.value.as_str())),
            Key::Duration => ("--duration", Some("run.duration")),
            Key::Seed => ("--seed", Some("run.seed")),
            Key::Rate => ("--rate", Some("run.held_rate")),
            Key::Threads => ("--threads", of(LoadOption::Threads)),
            Key::RateOfTransactions => ("--rate-transactions", of(LoadOption::RateOfTransactions)),
            Key::Users => ("--users", of(LoadOption::Users)),
            Key::Databases => ("--databases", of(LoadOption::Databases)),
            Key::TargetSize => ("--target-size", of(LoadOption::TargetSize)),
            Key::Test => ("--test", of(LoadOption::Test)),
            Key::Workload | Key::Array | Key::Mailboxes => return None,
        };
        Some(Source::option(option, path?, self.value.as_str()))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}
