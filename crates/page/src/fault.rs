//! What is wrong with what was asked for, for people.

use config::ConfigError;
use proofload::Error;
use serde::Serialize;

/// The name that a design has as a file, in messages, and as a workload.
pub const DESIGN_FILE: &str = "design.toml";

/// Why a request has no answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// The remedy; may be empty.
    pub help: String,
}

impl Fault {
    /// A fault with its remedy.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => Self::new(refusal.message, refusal.help),
            Error::Config(error) => error.into(),
            Error::Point { name, error } => {
                let fault = Self::from(*error);
                Self::new(format!("{name}: {}", fault.message), fault.help)
            }
            other => Self::new(other.to_string(), ""),
        }
    }
}

impl From<ConfigError> for Fault {
    /// Places in the design are left out: nobody sees its lines.
    fn from(error: ConfigError) -> Self {
        let text = error.to_string();
        let place = format!("{DESIGN_FILE}:");
        let without_place = |line: &str| {
            let rest = line.strip_prefix(&place)?;
            let (number, rest) = rest.split_once(": ")?;
            number.parse::<u32>().ok()?;
            Some(rest.to_owned())
        };
        let lines = text.lines();
        let lines = lines.map(|line| without_place(line).unwrap_or_else(|| line.to_owned()));
        Self::new(lines.collect::<Vec<_>>().join("\n"), "")
    }
}
