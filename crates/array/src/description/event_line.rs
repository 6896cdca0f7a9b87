//! Events as a person types them: `10m disk-fail 3`, `20m disk-slow 5 of a-disks x20 for 2m`.

use std::fmt::Write;

use config::{Choice, TimeSpan};

use super::keys::{EventKeys, EventName, EventSubject};

/// How such a line is written.
const FORM: &str = "write TIME EVENT [NUMBER] [of GROUP] [xNUMBER] [for TIME], such as \
                    '10m disk-fail 3' or '20m disk-slow 5 x20 for 2m'";

/// The events as commands; the names of `[[event]]` say what happens.
const COMMANDS: [(&str, EventName); 16] = [
    ("disk-fail", EventName::DiskFails),
    ("disk-slow", EventName::DiskSlows),
    ("disk-recover", EventName::DiskRecovers),
    ("disk-replace", EventName::DiskReplaced),
    ("sectors-unreadable", EventName::SectorsUnreadable),
    ("sectors-corrupted", EventName::SectorsCorrupted),
    ("credits-spent", EventName::CreditsSpent),
    ("controller-fail", EventName::ControllerFails),
    ("controller-failover", EventName::ControllerFails),
    ("controller-return", EventName::ControllerReturns),
    ("battery-lost", EventName::CacheBatteryFails),
    ("battery-restored", EventName::CacheBatteryReturns),
    ("tier-full", EventName::TierFills),
    ("tier-freed", EventName::TierFreed),
    ("power-cut", EventName::PowerCut),
    ("power-return", EventName::PowerReturns),
];

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {FORM}")]
pub struct EventLineError {
    problem: String,
}

/// The `[[event]]` table of a line; numbers and names in it are still to be checked against an array.
///
/// # Errors
/// What cannot be understood, with the form of a line.
pub fn event_of_line(line: &str) -> Result<String, EventLineError> {
    let wrong = |problem: String| EventLineError { problem };
    let mut words = line.split_whitespace();
    let at = words
        .next()
        .ok_or_else(|| wrong("it is empty".to_owned()))?;
    let at = time(at)?;
    let name = words
        .next()
        .ok_or_else(|| wrong("no event follows the time".to_owned()))?;
    let what = event_named(name)?;
    let mut table = format!("[[event]]\nat = \"{at}\"\nwhat = \"{}\"\n", what.name());
    let number_key = match what.subject() {
        EventSubject::Disk | EventSubject::Group | EventSubject::Array => "disk",
        EventSubject::Controller => "controller",
    };
    let times_key = if what.has_places() {
        "places"
    } else {
        "factor"
    };
    let mut given = Vec::new();
    while let Some(word) = words.next() {
        let mut value_of = |word: &str| {
            let value = words.next();
            value.ok_or_else(|| wrong(format!("nothing follows '{word}'")))
        };
        let (key, value) = match word {
            "of" => ("group", toml::Value::from(value_of(word)?).to_string()),
            "for" => ("lasts", format!("\"{}\"", time(value_of(word)?)?)),
            _ => match (word.strip_prefix('x'), word) {
                (Some(times), _) if is_number(times) => (times_key, times.to_owned()),
                (_, number) if is_number(number) => (number_key, number.to_owned()),
                _ => return Err(wrong(format!("'{word}' is not understood"))),
            },
        };
        if given.contains(&key) {
            return Err(wrong(format!("'{word}' says again what was said before")));
        }
        given.push(key);
        // Writing to a String cannot fail.
        let _ = writeln!(table, "{key} = {value}");
    }
    Ok(table)
}

/// The line of an event, which [`event_of_line`] reads back to the same.
pub(super) fn line_of_event(event: &EventKeys) -> String {
    let command = COMMANDS.iter().find(|(_, what)| *what == event.what);
    let name = command.map_or(event.what.name(), |(command, _)| command);
    let mut line = format!("{} {name}", event.at);
    // Writing to a String cannot fail.
    for number in [event.disk, event.controller].into_iter().flatten() {
        let _ = write!(line, " {number}");
    }
    if let Some(group) = &event.group {
        let _ = write!(line, " of {group}");
    }
    for times in [event.factor, event.places].into_iter().flatten() {
        let _ = write!(line, " x{times}");
    }
    if let Some(lasts) = event.lasts {
        let _ = write!(line, " for {lasts}");
    }
    line
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>()
        .is_ok_and(|number| number.to_string() == text)
}

fn time(text: &str) -> Result<TimeSpan, EventLineError> {
    TimeSpan::parse(text).map_err(|problem| EventLineError {
        problem: format!("'{text}' is not a time: {problem}"),
    })
}

fn event_named(name: &str) -> Result<EventName, EventLineError> {
    let command = COMMANDS.iter().find(|(command, _)| *command == name);
    let known = command.map(|(_, what)| *what);
    known.or_else(|| EventName::of_name(name)).ok_or_else(|| {
        let names = COMMANDS.map(|(command, _)| command).join(", ");
        EventLineError {
            problem: format!("there is no event '{name}'; there are {names}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &str) -> EventKeys {
        let table = event_of_line(line).expect(line);
        let keys = table.strip_prefix("[[event]]\n").expect("one table");
        config::from_toml(keys).expect(line)
    }

    #[test]
    fn every_part_of_a_line_becomes_a_key() {
        let event = keys("10m disk-slow 5 of a-disks x20 for 2m");
        assert_eq!(event.at, TimeSpan::seconds(600));
        assert_eq!(event.what, EventName::DiskSlows);
        assert_eq!((event.disk, event.controller), (Some(5), None));
        assert_eq!(event.group.as_deref(), Some("a-disks"));
        assert_eq!(event.factor, Some(20));
        assert_eq!(event.lasts, Some(TimeSpan::seconds(120)));
        let event = keys("3m sectors-unreadable 2 x100");
        assert_eq!(event.what, EventName::SectorsUnreadable);
        assert_eq!((event.places, event.factor), (Some(100), None));
        let event = keys("1h30m controller-failover 1");
        assert_eq!(event.what, EventName::ControllerFails);
        assert_eq!((event.disk, event.controller), (None, Some(1)));
        assert_eq!(keys("0s battery-lost").controller, None);
        let event = keys("5m tier-full of a-ssd for 10m");
        assert_eq!(event.what, EventName::TierFills);
        assert_eq!(event.group.as_deref(), Some("a-ssd"));
    }

    #[test]
    fn an_event_is_written_as_a_line_that_reads_back_to_it() {
        for line in [
            "10m disk-slow 5 of a-disks x20 for 2m",
            "3m sectors-unreadable 2 x100",
            "1h30m controller-fail 1",
            "5m tier-full of a-ssd for 10m",
            "0s power-cut",
        ] {
            let event = keys(line);
            assert_eq!(keys(&line_of_event(&event)), event, "{line}");
        }
    }

    #[test]
    fn every_event_has_a_command_and_its_own_name() {
        for (name, what, _) in EventName::NAMES {
            assert_eq!(keys(&format!("1s {name}")).what, *what);
            assert!(COMMANDS.iter().any(|(_, of)| of == what), "{name}");
        }
        for (command, what) in COMMANDS {
            assert_eq!(keys(&format!("1s {command}")).what, what);
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, words) in [
            ("", "it is empty"),
            ("soon disk-fail 3", "'soon' is not a time"),
            ("10m", "no event follows the time"),
            ("10m disk-fails-not 3", "there is no event 'disk-fails-not'"),
            ("10m disk-fail three", "'three' is not understood"),
            ("10m disk-fail -3", "'-3' is not understood"),
            ("10m disk-fail 3 4", "'4' says again"),
            ("10m disk-slow 3 x", "'x' is not understood"),
            ("10m disk-slow 3 for", "nothing follows 'for'"),
            ("10m disk-slow 3 for ever", "'ever' is not a time"),
            ("10m disk-fail 3 of", "nothing follows 'of'"),
        ] {
            let error = event_of_line(line).expect_err(line).to_string();
            assert!(error.contains(words), "{line}: {error}");
            assert!(error.contains("TIME EVENT"), "{error}");
        }
    }

    #[test]
    fn a_name_with_quotes_stays_one_name() {
        let event = keys("1s disk-fail 1 of a\"b\\c");
        assert_eq!(event.group.as_deref(), Some("a\"b\\c"));
    }
}
