//! Certificates of invented runs: two pages for one run, on paper as in the file.

use std::path::{Path, PathBuf};
use std::process::Command;

use measure::result::{RunKind, VerificationResult, VerifiedDatabase};
use report::{Certificate, CertifiedRun, Details, Deviation};

fn certified() -> Vec<(&'static str, CertifiedRun)> {
    let runs = crate::stories::all().into_iter();
    // Names of a hundred letters take the room that they take.
    runs.filter(|(name, run)| run.result.kind == RunKind::Run && *name != "hostile-names")
        .map(|(name, mut run)| {
            let databases = run.result.databases.iter().map(|one| VerifiedDatabase {
                name: one.name.clone(),
                pages: 15_000_000,
                bytes: 500_000_000_000,
                pages_written: Some(1_200_000),
                pages_read_back: Some(1_200_000),
                ..VerifiedDatabase::default()
            });
            run.result.verification = Some(VerificationResult {
                databases: databases.collect(),
                ..VerificationResult::default()
            });
            let deviations = ["run.duration", "mail.databases", "mail.mailbox_size"];
            let deviations = deviations.map(|setting| Deviation {
                setting: setting.to_owned(),
                of_profile: "2h".to_owned(),
                of_run: "24h".to_owned(),
            });
            let one = CertifiedRun {
                run,
                deviations: Some(deviations.into()),
                ..CertifiedRun::default()
            };
            (name, one)
        })
        .collect()
}

fn pages_of(pdf: &Path) -> Option<usize> {
    let output = Command::new("pdfinfo").arg(pdf).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("Pages:"));
    line.map(|pages| pages.trim().parse().expect("a number"))
}

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places =
        std::env::split_paths(&path).flat_map(|place| names.map(|name| place.join(name)));
    places.find(|place| place.is_file())
}

fn print(browser: &Path, page: &Path, pdf: &Path) {
    let directory = pdf.parent().expect("a directory");
    let status = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args(["--disable-background-networking", "--no-pdf-header-footer"])
        .arg(format!(
            "--user-data-dir={}",
            directory.join("profile").display()
        ))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", page.display()))
        .output();
    assert!(status.expect("the browser starts").status.success());
}

#[test]
fn one_run_takes_two_pages_in_the_file_and_on_paper() {
    let directory = tempfile::tempdir().expect("a directory");
    let all = certified();
    assert!(all.len() > 2);
    for (name, one) in all {
        let path = |file: &str| directory.path().join(file);
        let certificate = Certificate::new(&[one], &Details::default());
        let (pdf, is_whole) = certificate.pdf();
        assert!(is_whole, "{name}");
        std::fs::write(path("certificate.pdf"), pdf).expect("a file");
        std::fs::write(path("certificate.html"), certificate.html()).expect("a file");
        let Some(pages) = pages_of(&path("certificate.pdf")) else {
            return test_support::skip("pdftotext is not installed");
        };
        assert_eq!(pages, 2, "{name}, PDF");
        let Some(browser) = browser() else {
            return test_support::skip("Chromium is not installed");
        };
        print(&browser, &path("certificate.html"), &path("printed.pdf"));
        assert_eq!(pages_of(&path("printed.pdf")), Some(2), "{name}, HTML");
    }
}

#[test]
fn letters_that_the_fonts_lack_are_reported_and_stand_in_the_page() {
    let (_, one) = certified().remove(0);
    let details = Details {
        customer: "\u{141}\u{f3}d\u{17a} <&>".to_owned(),
        ..Details::default()
    };
    let certificate = Certificate::new(&[one], &details);
    assert!(!certificate.pdf().1);
    assert!(
        certificate
            .html()
            .contains("\u{141}\u{f3}d\u{17a} &lt;&amp;&gt;")
    );
}
