//! The switches of `Jetstress.exe` 2003/2004.

use std::ops::RangeInclusive;

use execution::Error;

use crate::jetstress::scalar::{Scalar, shown};

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    Log,
    Records,
    Cache,
    Threads,
    Insert,
    Replace,
    Delete,
    Lazy,
    Attach,
    Seconds,
    LogBuffers,
}

/// Every switch with its letter, what its value is called, and what it means.
const SWITCHES: [(Switch, char, &str, &str); 11] = [
    (Switch::Log, 'l', "DIR", "directory of the log"),
    (
        Switch::Records,
        'n',
        "N",
        "1-KB records to fill a new database with",
    ),
    (Switch::Cache, 'b', "MB", "database cache"),
    (Switch::Threads, 't', "N", "threads"),
    (Switch::Insert, 'i', "%", "operations that insert"),
    (Switch::Replace, 'r', "%", "operations that replace"),
    (Switch::Delete, 'd', "%", "operations that delete"),
    (
        Switch::Lazy,
        'z',
        "%",
        "commits that do not wait for the log",
    ),
    (Switch::Attach, 'a', "", "attach the database that is there"),
    (Switch::Seconds, 'q', "S", "length of the run"),
    (Switch::LogBuffers, 'g', "N", "log buffers of 512 bytes"),
];

impl Switch {
    pub(super) fn letter(self) -> char {
        let own = SWITCHES.iter().find(|one| one.0 == self);
        own.map_or('?', |one| one.1)
    }
}

/// The switches of a command line, with their values.
#[derive(Debug, Default)]
pub(super) struct Given(Vec<(Switch, String)>);

impl Given {
    /// Reads words such as `-t 18`, `-t18` or `-a`; upper and lower case mean the same.
    ///
    /// # Errors
    /// A switch that is not known, comes twice or has no value.
    pub(super) fn parse(words: &[String]) -> Result<Self, Error> {
        let mut given = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (switch, attached) = switch_of(word)?;
            if given.has(switch) {
                let letter = switch.letter();
                return Err(Error::usage(
                    format!("-{letter} is given twice."),
                    "Leave one out.",
                ));
            }
            let value = match (takes_value(switch), attached) {
                (false, "") => String::new(),
                (false, _) => return Err(unknown(word)),
                (true, "") => words.next().cloned().ok_or_else(|| no_value(switch))?,
                (true, attached) => attached.to_owned(),
            };
            given.0.push((switch, value));
        }
        Ok(given)
    }

    pub(super) fn has(&self, switch: Switch) -> bool {
        self.0.iter().any(|one| one.0 == switch)
    }

    pub(super) fn text(&self, switch: Switch) -> Option<&str> {
        let found = self.0.iter().find(|one| one.0 == switch);
        found.map(|one| one.1.as_str())
    }

    /// A whole number within a range.
    pub(super) fn whole(
        &self,
        switch: Switch,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Error> {
        let Some(text) = self.text(switch) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let right = format!("a whole number from {} to {}", range.start(), range.end());
            wrong(switch, text, &right)
        })
    }

    /// A share from 0 to 100.
    pub(super) fn percent(&self, switch: Switch) -> Result<Option<f64>, Error> {
        let Some(text) = self.text(switch) else {
            return Ok(None);
        };
        let number = <f64 as Scalar>::parse(text)
            .ok()
            .filter(|share| *share <= 100.0);
        number
            .map(Some)
            .ok_or_else(|| wrong(switch, text, "a share from 0 to 100"))
    }
}

fn takes_value(switch: Switch) -> bool {
    switch != Switch::Attach
}

/// The switch that a word begins with, and what is attached to it.
fn switch_of(word: &str) -> Result<(Switch, &str), Error> {
    let mut letters = word.chars();
    let is_switch = matches!(letters.next(), Some('-' | '/'));
    let letter = letters.next().filter(|_| is_switch);
    let letter = letter.map(|letter| letter.to_ascii_lowercase());
    let known = SWITCHES.iter().find(|one| Some(one.1) == letter);
    known
        .map(|one| (one.0, letters.as_str()))
        .ok_or_else(|| unknown(word))
}

fn unknown(word: &str) -> Error {
    let list = SWITCHES.map(|(_, letter, value, meaning)| {
        let switch = format!("-{letter} {value}");
        format!("  {switch:<7} {meaning}")
    });
    Error::usage(
        format!("'{}' is no switch of Jetstress 2003/2004.", shown(word)),
        format!("Its switches are:\n{}", list.join("\n")),
    )
}

fn no_value(switch: Switch) -> Error {
    let named = SWITCHES.iter().find(|one| one.0 == switch);
    let (letter, value) = named.map_or(('?', ""), |one| (one.1, one.2));
    Error::usage(
        format!("-{letter} has no value."),
        format!("Write -{letter} {value}."),
    )
}

fn wrong(switch: Switch, text: &str, right: &str) -> Error {
    let letter = switch.letter();
    Error::usage(
        format!("-{letter} {} is not {right}.", shown(text)),
        format!("Correct the value of -{letter}."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Given, Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Given::parse(&words)
    }

    #[test]
    fn switches_are_read_as_the_old_tool_did() {
        let given = parsed("-t18 -I 15 /a -l /logs").unwrap();
        assert_eq!(given.text(Switch::Threads), Some("18"));
        assert_eq!(given.percent(Switch::Insert).unwrap(), Some(15.0));
        assert_eq!(given.text(Switch::Log), Some("/logs"));
        assert!(given.has(Switch::Attach) && !given.has(Switch::Delete));
    }

    #[test]
    fn unknown_switches_are_refused_with_the_list() {
        for line in [
            "-x 3",
            "3",
            "-",
            "--threads 3",
            "-aa",
            "-t",
            "-a -a",
            "-i 101 -t 1",
        ] {
            let found = parsed(line).and_then(|given| given.percent(Switch::Insert));
            assert!(found.is_err(), "{line}");
        }
        let Error::Refused(refusal) = parsed("-x 3").unwrap_err() else {
            panic!("not a refusal");
        };
        assert!(
            refusal.help.contains("-q S    length of the run"),
            "{}",
            refusal.help
        );
    }
}
