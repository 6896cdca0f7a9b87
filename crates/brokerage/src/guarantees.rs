//! What a database server does not guarantee with its settings, or for a table that somebody has altered:
//! committed work that a crash or a power failure may take away.

use std::collections::{BTreeMap, BTreeSet};

/// Whether a value of a setting has a certain meaning.
type IsValue = fn(&str) -> bool;

/// A setting of a server, whether a crash may lose or tear committed data under a value of it, and
/// what it then loses.
struct Risk {
    setting: &'static str,
    is_risky: IsValue,
    /// Another setting that must have one of these values for the risk to exist.
    only_if: Option<(&'static str, IsValue)>,
    loses: &'static str,
}

const ANYTHING: &str = "a crash may lose or tear anything";
const COMMITS: &str = "a crash may lose the last committed transactions";
const PAGES: &str = "a crash may leave torn pages";

const fn risk(setting: &'static str, is_risky: fn(&str) -> bool, loses: &'static str) -> Risk {
    Risk {
        setting,
        is_risky,
        only_if: None,
        loses,
    }
}

const RISKS: [Risk; 9] = [
    // PostgreSQL.
    risk("fsync", is_off, ANYTHING),
    risk("full_page_writes", is_off, PAGES),
    risk("synchronous_commit", is_off, COMMITS),
    // MariaDB and MySQL.
    risk("innodb_flush_log_at_trx_commit", is_0_or_2, COMMITS),
    risk("innodb_flush_method", is_nosync, ANYTHING),
    risk("innodb_doublewrite", is_off, PAGES),
    // Recovery rolls back what is prepared in the engine and missing in the binary log.
    Risk {
        setting: "sync_binlog",
        is_risky: is_not_1,
        only_if: Some(("log_bin", is_on)),
        loses: COMMITS,
    },
    // SQLite.
    risk("synchronous", is_less_than_full, COMMITS),
    risk("journal_mode", is_unsafe_journal, ANYTHING),
];

fn is_off(value: &str) -> bool {
    ["off", "0", "no", "false"]
        .iter()
        .any(|off| value.eq_ignore_ascii_case(off))
}

fn is_on(value: &str) -> bool {
    !is_off(value)
}

fn is_not_1(value: &str) -> bool {
    value != "1"
}

fn is_0_or_2(value: &str) -> bool {
    matches!(value, "0" | "2")
}

fn is_nosync(value: &str) -> bool {
    value.eq_ignore_ascii_case("nosync")
}

fn is_less_than_full(value: &str) -> bool {
    is_off(value) || value.eq_ignore_ascii_case("normal") || value == "1"
}

fn is_unsafe_journal(value: &str) -> bool {
    is_off(value) || value.eq_ignore_ascii_case("memory")
}

/// The settings in force under which committed data may be lost, each with what may be lost.
#[must_use]
pub fn missing(settings: &BTreeMap<String, String>) -> Vec<String> {
    let holds = |(setting, is): (&str, IsValue)| {
        settings.get(setting).is_some_and(|value| is(value.trim()))
    };
    let found = RISKS.iter().filter_map(|risk| {
        let value = settings.get(risk.setting)?;
        let is_risk = (risk.is_risky)(value.trim()) && risk.only_if.is_none_or(holds);
        is_risk.then(|| format!("{} is {value} ({})", risk.setting, risk.loses))
    });
    found.collect()
}

/// The settings that decide what survives a crash, of those that the server has.
#[must_use]
pub fn deciding(settings: &BTreeMap<String, String>) -> Vec<&'static str> {
    let known = RISKS.iter().map(|risk| risk.setting);
    known
        .filter(|setting| settings.contains_key(*setting))
        .collect()
}

/// A table whose rows do not survive a crash, whatever the settings: how it was altered and what is lost, and
/// its name.
pub type AlteredTable = (String, String);

/// A table of PostgreSQL without a log.
#[must_use]
pub fn unlogged(name: String) -> AlteredTable {
    let how = "UNLOGGED (a crash takes all of their rows)";
    (how.to_owned(), name)
}

/// A table of MariaDB in another engine than InnoDB, whose log and settings are those that are examined.
#[must_use]
pub fn of_engine(name: String, engine: &str) -> AlteredTable {
    let how = format!("of the engine {engine} and not of InnoDB ({ANYTHING})");
    (how, name)
}

/// What is not guaranteed for tables, in parts of a sentence: one for each way in which they were altered.
#[must_use]
pub fn of_tables(found: &BTreeSet<AlteredTable>) -> Vec<String> {
    let mut by_way: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (how, name) in found {
        by_way.entry(how).or_default().push(name);
    }
    let part = |(how, names): (&str, Vec<&str>)| match names[..] {
        [name] => format!("the table {name} is {}", how.replace("their", "its")),
        _ => format!("the tables {} are {how}", names.join(", ")),
    };
    by_way.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(&str, &str)]) -> Vec<String> {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        missing(&settings.iter().map(pair).collect())
    }

    #[test]
    fn settings_as_servers_are_installed_guarantee_everything() {
        let postgresql = [
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous_commit", "on"),
        ];
        let mariadb = [
            ("innodb_doublewrite", "ON"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_flush_method", "O_DIRECT"),
            ("log_bin", "OFF"),
            ("sync_binlog", "0"),
        ];
        let sqlite = [("journal_mode", "wal"), ("synchronous", "full")];
        for settings in [&postgresql[..], &mariadb, &sqlite] {
            assert_eq!(of(settings), [] as [String; 0]);
        }
    }

    #[test]
    fn each_risky_setting_is_named_with_what_it_loses() {
        for (setting, value) in [
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("synchronous_commit", "off"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("innodb_flush_log_at_trx_commit", "0"),
            ("innodb_flush_method", "nosync"),
            ("innodb_doublewrite", "OFF"),
            ("synchronous", "normal"),
            ("synchronous", "off"),
            ("journal_mode", "memory"),
        ] {
            let found = of(&[(setting, value)]);
            assert_eq!(found.len(), 1, "{setting} = {value}");
            let named = format!("{setting} is {value} (a crash may ");
            assert!(found[0].starts_with(&named), "{found:?}");
        }
        assert_eq!(of(&[("log_bin", "ON"), ("sync_binlog", "0")]).len(), 1);
    }

    #[test]
    fn altered_tables_are_named_with_what_they_lose() {
        let all = [
            unlogged("trade_history".to_owned()),
            of_engine("news_item".to_owned(), "MEMORY"),
            of_engine("cash_transaction".to_owned(), "MEMORY"),
        ];
        let found = of_tables(&all.into());
        assert_eq!(
            found,
            [
                "the table trade_history is UNLOGGED (a crash takes all of its rows)",
                "the tables cash_transaction, news_item are of the engine MEMORY and not of InnoDB (a crash \
                 may lose or tear anything)",
            ]
        );
        assert_eq!(of_tables(&BTreeSet::new()), [""; 0]);
    }
}
