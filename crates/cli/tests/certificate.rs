//! `proofload certificate`: the document of runs for signature.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{SMALL, Scratch, WIDE};

fn run(scratch: &Scratch, out: &str, options: &str, status: i32) {
    let line = SMALL.replace("--out out", &format!("--out {out}"));
    let line = format!("{line} {options} --quiet");
    match status {
        1 => scratch.fails(&line),
        _ => scratch.proofload(&line).exits(status),
    };
}

/// The text of a PDF file and its number of pages, by poppler.
fn pages_of(pdf: &Path) -> Option<(String, usize)> {
    let text = Command::new("pdftotext")
        .arg("-layout")
        .args([pdf, Path::new("-")])
        .output();
    let Ok(text) = text else {
        test_support::skip("pdftotext is not installed");
        return None;
    };
    assert!(text.status.success(), "{text:?}");
    let text = String::from_utf8(text.stdout).expect("what the run has written");
    // Each page ends with a form feed.
    let pages = text.matches('\u{c}').count();
    Some((text, pages))
}

#[test]
fn a_run_that_passed_has_a_certificate_of_two_pages() {
    let scratch = Scratch::new();
    scratch.directory("target");
    run(&scratch, "out", &format!("{WIDE} --rate 200"), 0);
    scratch.file(
        "details.toml",
        "customer = \"M\u{fc}ller GmbH\"\nserial = \"2S6123\"\nfirmware = \"VL270\"\n",
    );
    scratch
        .proofload("certificate out --details details.toml --firmware VL280 --tester Smith")
        .exits(0)
        .prints("Certificate of storage acceptance test");
    let html = fs::read_to_string(scratch.path("out/certificate.html")).unwrap();
    let result = fs::read_to_string(scratch.path("out/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let hash = result["document_sha256"].as_str().unwrap();
    let parts = [
        "PASS",
        "M\u{fc}ller GmbH",
        "2S6123",
        "VL280",
        "Smith",
        "average database read latency",
        "Reliability and data integrity",
        "Limits that differ from the profile exchange-2013",
        "Signature",
        hash,
    ];
    for part in parts {
        assert!(html.contains(part), "{part} is not in the page");
    }
    assert!(!html.contains("VL270"), "options take precedence");
    assert!(
        html.contains("class=\"blank\""),
        "what is missing is a line"
    );
    if let Some((text, pages)) = pages_of(&scratch.path("out/certificate.pdf")) {
        assert_eq!(pages, 2, "{text}");
        for part in parts {
            let found = text.contains(part) || text.replace('\n', " ").contains(part);
            assert!(found, "{part} is not in the PDF:\n{text}");
        }
    }
    // The files of the certificate are no change of the run.
    scratch.proofload("verify out").exits(0);
}

#[test]
fn a_run_that_failed_has_a_report_that_says_so() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let levels = "--set service_levels.average_database_read=1us \
                  --set service_levels.fewest_samples=1";
    run(&scratch, "out", levels, 1);
    scratch.proofload("certificate out --out paper").exits(0);
    let html = fs::read_to_string(scratch.path("paper/certificate.html")).unwrap();
    assert!(html.contains("FAIL (performance)"));
    assert!(html.contains("<h1>Storage test report</h1>"));
    assert!(!html.contains("Certificate"));
    if let Some((text, _)) = pages_of(&scratch.path("paper/certificate.pdf")) {
        assert!(text.contains("FAIL (performance)") && text.contains("Storage test report"));
        assert!(!text.contains("Certificate"));
    }
}

#[test]
fn several_runs_are_one_document_with_the_worst_answer() {
    let scratch = Scratch::new();
    scratch.directory("target");
    run(&scratch, "good", &format!("{WIDE} --rate 200"), 0);
    run(
        &scratch,
        "bad",
        "--set service_levels.average_database_read=1us \
        --set service_levels.fewest_samples=1",
        1,
    );
    scratch.proofload("certificate good bad").exits(0);
    let html = fs::read_to_string(scratch.path("good/certificate.html")).unwrap();
    assert!(html.contains("1 of 2 runs passed") && html.contains("FAIL (performance)"));
    assert!(html.contains("Run 2 decides") && html.contains("Run 2 of 2: bad"));
    if let Some((text, pages)) = pages_of(&scratch.path("good/certificate.pdf")) {
        assert_eq!(pages, 5, "a summary, and two pages for each");
        assert!(text.contains("Run 1 of 2: good"), "{text}");
    }
}

#[test]
fn what_was_changed_or_never_tested_is_refused() {
    let scratch = Scratch::new();
    scratch.directory("target");
    run(&scratch, "out", &format!("{WIDE} --rate 200"), 0);
    let path = scratch.path("out/samples.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("measured,1", "measured,2", 1)
            .replacen(",0,", ",1,", 1),
    )
    .unwrap();
    scratch
        .proofload("certificate out")
        .exits(4)
        .says("out was changed after the run")
        .says("samples.csv: SHA-256");
    assert!(!scratch.path("out/certificate.pdf").exists());
    scratch.proofload("certificate out --unverified").exits(0);
    let html = fs::read_to_string(scratch.path("out/certificate.html")).unwrap();
    assert!(html.contains("NOT VERIFIED") && html.contains("--unverified was given"));
    assert!(!html.contains("Certificate"));
    scratch
        .proofload("certificate out --unverified --details missing.toml")
        .exits(2);
    scratch.file("wrong.toml", "custommer = \"x\"\n");
    scratch
        .proofload("certificate out --unverified --details wrong.toml")
        .exits(2)
        .says("did you mean")
        .says("customer");
    scratch
        .proofload("predict exchange-2013 --array msa2050-tier --duration 5m --out model --quiet")
        .exits(0);
    scratch
        .proofload("certificate model")
        .exits(2)
        .says("no storage was tested");
}

#[test]
fn a_report_that_is_not_of_these_results_is_no_certificate() {
    let scratch = Scratch::new();
    scratch.directory("target");
    run(&scratch, "out", &format!("{WIDE} --rate 200"), 0);
    let path = scratch.path("out/report.html");
    let page = fs::read_to_string(&path).unwrap();
    fs::write(&path, page.replacen("PASS", "PASSED", 1)).unwrap();
    scratch.proofload("verify out").exits(5);
    scratch
        .proofload("certificate out --out signed")
        .exits(0)
        .prints("Storage test report");
    let html = fs::read_to_string(scratch.path("signed/certificate.html")).unwrap();
    assert!(
        html.contains("report.html is not what this version makes"),
        "{html}"
    );
    scratch.proofload("report out --quiet").exits(0);
    scratch
        .proofload("certificate out --out signed")
        .exits(2)
        .says("has a certificate already");
    scratch
        .proofload("certificate out --out signed --overwrite")
        .exits(0)
        .prints("Certificate");
    run(&scratch, "other", &format!("{WIDE} --rate 200"), 0);
    scratch
        .proofload("certificate out --out other --overwrite")
        .exits(2)
        .says("other is the directory of another run");
    assert!(!scratch.path("other/certificate.html").exists());
    // The place of a run's own certificate.
    scratch.proofload("certificate other").exits(0);
    let page = fs::read(scratch.path("other/certificate.html")).unwrap();
    scratch
        .proofload("certificate other --customer Smith")
        .exits(2)
        .says("other has a certificate already")
        .says("--overwrite");
    // The same directory, named by a file in it.
    scratch
        .proofload("certificate other/result.json --customer Smith")
        .exits(2)
        .says("--overwrite");
    assert!(fs::read(scratch.path("other/certificate.html")).is_ok_and(|now| now == page));
    scratch
        .proofload("certificate other --customer Smith --overwrite")
        .exits(0);
    assert!(fs::read(scratch.path("other/certificate.html")).is_ok_and(|now| now != page));
}
