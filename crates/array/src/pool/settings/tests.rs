//! Descriptions that cannot be, and the complaint each of them gets.

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

/// The paths complained about.
fn paths(text: &str, thick_gib: u64) -> Vec<String> {
    let settings: PoolSettings = toml::from_str(text).expect("it can be read");
    let volume = PoolVolume {
        id: VolumeId(0),
        path: "volumes.0.capacity_mib".to_owned(),
        sectors: thick_gib << 21,
        thick: true,
        affinity: Affinity::None,
    };
    let complaints = settings.check("pools.0", &facts(), &[volume]);
    complaints
        .into_iter()
        .map(|complaint| complaint.path)
        .collect()
}

#[test]
fn a_good_description_has_no_complaints() {
    assert_eq!(paths(GOOD, 1000), [""; 0]);
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
            "fill = { at_miss = 0 }",
            "read_cache.fill",
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
            "tiering.interval_s",
        ),
        (
            "[tiering]",
            "[tiering]\nhalf_life_s = 0.1",
            "tiering.half_life_s",
        ),
        (
            "[tiering]",
            "[tiering]\nswap_ratio = 0.5",
            "tiering.swap_ratio",
        ),
        (
            "[tiering]",
            "[tiering]\nmove_limit_mib = 3",
            "tiering.move_limit_mib",
        ),
        (
            "[tiering]",
            "[tiering]\nmoves_in_flight_max = 0",
            "tiering.moves_in_flight_max",
        ),
        (
            "[tiering]",
            "[tiering]\npromote_score = nan",
            "tiering.promote_score",
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
        let found = paths(&text, 200);
        let expected = format!("pools.0.{path}");
        assert!(found.contains(&expected), "{from} -> {to}: {found:?}");
    }
}

#[test]
fn a_thick_volume_must_fit() {
    assert_eq!(paths(GOOD, 1001), ["volumes.0.capacity_mib"]);
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
        let error = toml::from_str::<PoolSettings>(&text).expect_err(to);
        assert!(error.span().is_some(), "{error}");
        assert!(error.to_string().contains(to.trim_matches('"')), "{error}");
    }
}
