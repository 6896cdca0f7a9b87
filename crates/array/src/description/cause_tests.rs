//! Faults are shown at the line that caused them, each once, in the order of the lines.

use super::tests::{bundled, demands, faults, load};
use config::Source;
use test_support::set;

#[test]
fn types_and_rules_are_listed_together_in_the_order_of_lines() {
    let error = faults(
        "[controllers]\ncount = 7\n[pool]\nspares = 'x'\ndisk_count = 3\n[cache]\nmirror = 'no'\n\
         line_kib = 3",
    );
    let lines: Vec<&str> = error.lines().collect();
    let begins = [3, 5, 6, 8, 9].map(|line| format!("mine.toml:{line}: "));
    assert_eq!(lines.len(), begins.len(), "{error}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(&begin), "{error}");
    }
}

#[test]
fn a_clash_with_what_is_extended_is_shown_at_ones_own_line() {
    for (text, line, with) in [
        ("[controllers]\ncount = 1", 3, "`mirror = true` in msa2040"),
        (
            "[pool]\n\nname = 'p'",
            4,
            "`databases_on = [\"a\", \"b\"]` in msa2040",
        ),
        (
            "[[pool]]\ndisk = 'sas-10k-900gb'\ndisk_count = 5\nraid = 'raid5'\nchunk_kib = 512",
            2,
            "`databases_on = [\"a\", \"b\"]` in msa2040",
        ),
    ] {
        let error = faults(text);
        let wanted = format!("mine.toml:{line}: ");
        assert!(
            error.starts_with(&wanted) && error.contains(&format!("does not go with {with}")),
            "{text}\ngives\n{error}"
        );
    }
    let sources = [
        bundled("msa2040"),
        set("pool.disk_count=9"),
        set("controllers.count=1"),
    ];
    let error = load(&sources)
        .plan(&demands(1, 10))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("--set controllers.count=1: "), "{error}");
}

#[test]
fn what_only_the_extended_array_says_is_shown_as_its_own() {
    let parent = "extends = 'lsi-s3500-raid0'\ntitle = 'mine'\n";
    let sources = [Source::file("mine.toml", parent)];
    let error = load(&sources).plan(&demands(1, 9_000_000)).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("lsi-s3500-raid0") && error.contains("which mine.toml extends"),
        "{error}"
    );
}

#[test]
fn what_comes_from_one_line_is_shown_once() {
    for text in [
        "[volumes]\ndatabase_size_gb = 0",
        "[pool]\nname = 'p'",
        "[pool]\nchunk_kib = 3",
        "[volumes]\npartition_offset_sectors = 99999999999",
        "[volumes]\ndatabase_size_gb = 9000.0",
    ] {
        let error = faults(text);
        assert_eq!(error.lines().count(), 1, "{text}\ngives\n{error}");
    }
}
