//! Descriptions that cannot be, and the diagnostic each of them gets.

use super::{Affinity, GroupFacts, PoolSettings, PoolVolume};
use crate::VolumeId;
use crate::group::GroupId;

const GOOD: &str = r#"
groups = [{ group = "ssd", tier = "performance" }, { group = "sas", tier = "standard" }]
[tiering]
policy = "scan-rank-move"
[read_cache]
group = "cache"
size_gib = 100
replacement = "s3-fifo"
"#;

fn facts() -> Vec<GroupFacts> {
    let group = |(number, (name, gib, solid_state)): (usize, (&str, u64, bool))| GroupFacts {
        name: name.to_owned(),
        id: GroupId(number as u16),
        usable_sectors: gib << 21,
        solid_state,
    };
    let groups = [
        ("ssd", 200, true),
        ("sas", 800, false),
        ("cache", 400, true),
        ("nearline", 4000, false),
    ];
    groups.into_iter().enumerate().map(group).collect()
}

/// What is reported, one line each: paths of rules, lines of what cannot be read.
fn reported(text: &str, thick_gib: u64) -> Vec<String> {
    let settings: PoolSettings = match config::from_toml(text) {
        Ok(settings) => settings,
        Err(error) => return error.to_string().lines().map(str::to_owned).collect(),
    };
    let volume = PoolVolume {
        id: VolumeId(0),
        path: "volumes.0.capacity_mib".to_owned(),
        sectors: thick_gib << 21,
        thick: true,
        affinity: Affinity::None,
    };
    let broken_rules = settings.check("pools.0", &facts(), &[volume]);
    broken_rules
        .into_iter()
        .map(|diagnostic| diagnostic.path)
        .collect()
}

#[test]
fn a_good_description_breaks_no_rule() {
    assert_eq!(reported(GOOD, 1000), [""; 0]);
}

#[test]
fn every_broken_rule_is_pointed_at() {
    for (from, to, path) in [
        ("\"ssd\", tier", "\"nearline\", tier", "groups.0.tier"),
        ("\"sas\"", "\"cache\"", "groups.1.tier"),
        ("\"sas\"", "\"ssd\"", "groups.1.group"),
        ("\"sas\"", "\"other\"", "groups.1.group"),
        (
            "size_gib = 100",
            "size_gib = 100\nlimit_gib = 99",
            "read_cache.size_gib",
        ),
        ("size_gib = 100", "size_gib = 401", "read_cache.size_gib"),
        ("size_gib = 100", "line_kib = 48", "read_cache.line_kib"),
        ("size_gib = 100", "line_kib = 8192", "read_cache.line_kib"),
        (
            "size_gib = 100",
            "fill = { admit_after_misses = 0 }",
            "line:7: 0 is out of range; write a whole number from 1 to 255",
        ),
        (
            "\"scan-rank-move\"\n[read_cache]",
            "\"lru\"\n[read_cache]\nfill = { hot_pages_only = true }",
            "read_cache.fill.hot_pages_only",
        ),
        ("group = \"cache\"", "group = \"sas\"", "read_cache.group"),
        (
            "group = \"cache\"",
            "group = \"nearline\"",
            "read_cache.group",
        ),
        (
            "[tiering]",
            "[tiering]\ninterval_s = 0",
            "line:4: 0 is out of range; write a number from 0.001 to 1000000",
        ),
        (
            "[tiering]",
            "[tiering]\nhalf_life_s = 0.1",
            "tiering.half_life_s",
        ),
        (
            "[tiering]",
            "[tiering]\nswap_ratio = 0.5",
            "line:4: 0.5 is out of range; write a number from 1 to",
        ),
        (
            "[tiering]",
            "[tiering]\nmove_limit_mib = 3",
            "tiering.move_limit_mib",
        ),
        (
            "[tiering]",
            "[tiering]\nmoves_in_flight_max = 0",
            "line:4: 0 is out of range; write a whole number from 1 to 4096",
        ),
        (
            "[tiering]",
            "[tiering]\npromote_score = nan",
            "line:4: the number NaN does not fit here; write a number from 0",
        ),
        (
            "\ngroups",
            "\npage_size_kib = 3000\ngroups",
            "page_size_kib",
        ),
        (
            "\ngroups",
            "\nwarning_levels_percent = [80, 70]\ngroups",
            "warning_levels_percent",
        ),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD);
        let found = reported(&text, 200);
        let expected = match path.starts_with("line:") {
            true => path.to_owned(),
            false => format!("pools.0.{path}"),
        };
        let has = |one: &String| one.starts_with(&expected);
        assert!(found.iter().any(has), "{from} -> {to}: {found:?}");
    }
}

#[test]
fn a_thick_volume_must_fit() {
    assert_eq!(reported(GOOD, 1001), ["volumes.0.capacity_mib"]);
}

#[test]
fn unknown_words_are_refused_where_they_stand() {
    for (from, to) in [
        ("scan-rank-move", "scan-and-move"),
        ("s3-fifo", "s4-fifo"),
        ("\"standard\"", "\"usual\""),
        ("policy", "polity"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        let error = config::from_toml::<PoolSettings>(&text).expect_err(to);
        assert!(error.diagnostics[0].location.is_some(), "{error}");
        assert!(error.to_string().contains(to.trim_matches('"')), "{error}");
    }
}

#[test]
fn what_code_sets_is_held_to_the_declared_bounds() {
    let mut settings: PoolSettings = config::from_toml(GOOD).unwrap();
    settings.policy.tiering.swap_ratio = f32::NAN;
    settings
        .read_cache
        .as_mut()
        .unwrap()
        .policy
        .fill
        .admit_after_misses = 0;
    let broken_rules = settings.check("pools.0", &facts(), &[]);
    let paths: Vec<&str> = broken_rules.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "pools.0.tiering.swap_ratio",
            "pools.0.read_cache.fill.admit_after_misses"
        ]
    );
}
