//! The loader: the bundled studies, and what it refuses.

use std::collections::BTreeSet;

use super::*;
use crate::study::description::Kind;
use workload::Refusal;

const SOUND: &str = r#"
title = "A small study"
source = "nobody"

[defaults]
workload = "exchange-2013"
threads = 4
set = ["mail.databases=1"]

[case.one]
array = "msa2040"

[case.two]
array = "msa2050"
threads = "8"
set = ["engine.cache_size_per_database=8MiB"]

[[figure]]
id = "F1"
metric = "Read latency"
configuration = "one"
unit = "ms"
published = 10
kind = "measured"
measure = "host-read-ms"
cases = ["one"]
"#;

fn diagnostic(text: &str) -> String {
    Study::load(&[Source::file("mine", text)])
        .expect_err("a fault")
        .to_string()
}

#[test]
fn every_measured_figure_and_ratio_stands_in_exactly_one_study() {
    let mut seen = BTreeSet::new();
    let mut measured = 0;
    for named in load(&[]).unwrap() {
        for figure in &named.study.figure {
            assert!(
                seen.insert(figure.id.clone()),
                "{} is there twice",
                figure.id
            );
            measured += usize::from(figure.kind == Kind::Measured);
        }
    }
    // The published rows that are measured values, and those that compare two of them.
    assert_eq!((measured, seen.len() - measured), (59, 39));
}

#[test]
fn a_case_is_what_it_says_over_what_holds_for_all() {
    let study = Study::load(&[Source::file("mine", SOUND)]).unwrap();
    let two = study.case["two"].over(&study.defaults);
    assert_eq!(two.workload.as_deref(), Some("exchange-2013"));
    assert_eq!(two.threads.as_deref(), Some("8"));
    assert_eq!(two.set.len(), 2);
    assert_eq!(two.set[0], "mail.databases=1");
    assert_eq!(
        study.case["one"].over(&study.defaults).threads.as_deref(),
        Some("4")
    );
}

#[test]
fn what_cannot_be_a_study_is_refused_with_the_reason() {
    let changed = |from: &str, to: &str| {
        assert!(SOUND.contains(from), "{from}");
        SOUND.replacen(from, to, 1)
    };
    for (text, reason) in [
        (changed("source", "sauce"), "sauce"),
        (
            changed("cases = [\"one\"]", "cases = [\"three\"]"),
            "names the case three",
        ),
        (changed("cases = [\"one\"]", ""), "names no case"),
        (
            changed("host-read-ms", "host-read-hours"),
            "host-read-hours",
        ),
        (
            changed("measure = \"host-read-ms\"", ""),
            "neither a measure nor a reason",
        ),
        (
            changed("cases = [", "not_modelled = \"so\"\ncases = ["),
            "a reason against it",
        ),
        (
            changed(
                "measure = \"host-read-ms\"",
                "not_modelled = \"so\"\nnot_comparable = \"so\"",
            ),
            "needs a measure",
        ),
        (
            changed("cases = [", "comparison = \"times\"\ncases = ["),
            "needs both",
        ),
        (
            changed("published = 10", "published = 0"),
            "needs a `tolerance`",
        ),
        (
            changed("published = 10", "published = nan"),
            "the number NaN does not fit",
        ),
        (changed("array = \"msa2040\"", ""), "names no array"),
        (changed("case.two", "case.'../two'"), "may hold letters"),
        (
            changed(
                "cases = [\"one\"]",
                "cases = [\"one\", \"two\", \"one\"]\nbaseline_cases = [\"one\", \"two\"]\ncomparison = \"times\"",
            ),
            "as many as in `cases`",
        ),
        (
            format!("{SOUND}{}", &SOUND[SOUND.find("[[figure]]").unwrap()..]),
            "is there twice",
        ),
        (
            format!(
                "{SOUND}[[chart]]\ntitle = 'C'\nunit = 'ms'\nnames = ['x']\nline = [{{ name = 'l', \
                     figures = ['F9'] }}]"
            ),
            "names the figure F9",
        ),
        (
            format!(
                "{SOUND}[[chart]]\ntitle = 'C'\nunit = 'ms'\nnames = ['x', 'y']\nline = [{{ name \
                     = 'l', measure = 'host-read-ms', cases = ['one'] }}]"
            ),
            "that is not 2 cases",
        ),
    ] {
        let error = diagnostic(&text);
        assert!(error.contains(reason), "'{reason}' is not in: {error}");
    }
}

#[test]
fn an_unknown_name_gets_the_known_ones() {
    let error = load(&["msa2044".to_owned()]).unwrap_err();
    assert_eq!(error.class(), workload::ErrorClass::Usage);
    let execution::Error::Refused(Refusal { help, .. }) = error else {
        panic!("another kind of error");
    };
    assert!(help.contains("eva5000"), "{help}");
}

#[test]
fn the_document_on_studies_lists_every_setting() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/studies.md"
    );
    let document = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- settings -->\n", "<!-- end of settings -->");
    let (head, rest) = document.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let reference = config::reference::<Study>();
    let right = format!("{head}{begin}{reference}\n{end}{tail}");
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(path, right).unwrap();
        return;
    }
    let help = "run this test once with PROOFLOAD_WRITE_DOCS=1 to bring the document in step";
    assert_eq!(document, right, "{help}");
}
