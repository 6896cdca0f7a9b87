//! Opens the pages in a headless Chromium, if there is one: the script runs, no error is logged,
//! and the read-out follows the pointer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use measure::grid::{GridAxis, GridPoint, GridResult};
use measure::metric::Metric;
use measure::metric::RowScope;
use measure::result::{
    ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume, Verdict,
};
use measure::sample::SampleRow;
use report::{Certificate, CertifiedRun, Details, Run, html, html_comparison, html_grid};

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places =
        std::env::split_paths(&path).flat_map(|place| names.map(|name| place.join(name)));
    places.find(|place| place.is_file())
}

/// Runs the browser on a page with these arguments: what it printed, and what it wrote about it.
fn open_with(
    browser: &Path,
    directory: &Path,
    page: &str,
    arguments: &[String],
) -> (String, String) {
    const AT_HAND: &str = "the browser's files and process are at hand";
    let file = directory.join("page.html");
    std::fs::write(&file, page).expect(AT_HAND);
    let (document, log) = (directory.join("document"), directory.join("log"));
    let output = |path: &Path| Stdio::from(std::fs::File::create(path).expect(AT_HAND));
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
        ])
        .args(arguments)
        .arg(format!(
            "--user-data-dir={}",
            directory.join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .stdout(output(&document))
        .stderr(output(&log))
        .spawn()
        .expect(AT_HAND);
    let timeout = Instant::now() + Duration::from_secs(120);
    while child.try_wait().expect(AT_HAND).is_none() {
        if Instant::now() > timeout {
            child.kill().expect(AT_HAND);
            child.wait().expect(AT_HAND);
            panic!("the browser did not end within two minutes");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let read =
        |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect(AT_HAND)).into_owned();
    (read(&document), read(&log))
}

/// The document after its scripts ran, and what the browser wrote about it.
fn open(browser: &Path, directory: &Path, page: &str) -> (String, String) {
    let arguments = ["--window-size=1200,2000", "--dump-dom"].map(str::to_owned);
    open_with(browser, directory, page, &arguments)
}

/// The messages of scripts and of the browser about a page.
fn console_messages(log: &str) -> Vec<&str> {
    let lines = log.lines();
    lines.filter(|line| line.contains("CONSOLE")).collect()
}

/// The same run on a modelled array.
fn predicted(mut run: Run) -> Run {
    let named = |name: &str| ArrayGroup {
        name: name.to_owned(),
        ..ArrayGroup::default()
    };
    run.result.array = Some(ArrayResult {
        title: "<An array>".to_owned(),
        controllers: vec![ArrayController::default()],
        volumes: vec![ArrayVolume::default()],
        pools: vec![ArrayPool {
            name: "a".to_owned(),
            page_bytes: 4 << 20,
            performance_slots: 1000,
            ..ArrayPool::default()
        }],
        groups: vec![named("disks"), named("ssd")],
        disks: (0..4)
            .map(|number| ArrayDisk {
                number,
                group: "disks".to_owned(),
                busy_fraction: 0.1 * number as f64,
                ..ArrayDisk::default()
            })
            .collect(),
        ..ArrayResult::default()
    });
    for (index, sample) in run.timeline.iter_mut().enumerate() {
        let share = index as f64 / 1000.0;
        for (scope, name) in [
            (RowScope::ArrayController, "0"),
            (RowScope::ArrayVolume, "v"),
            (RowScope::ArrayPool, "a"),
            (RowScope::ArrayGroup, "disks"),
            (RowScope::ArrayGroup, "ssd"),
        ] {
            let values = [
                (Metric::ArrayReads, 100.0),
                (Metric::ArrayWrites, 50.0),
                (Metric::ArrayBusy, share),
                (Metric::ArrayDriveLatency, 5.0),
                (Metric::ArrayQueueDepth, share),
                (Metric::ArrayReadHits, share),
                (Metric::ArrayReadMissLatency, 5.0),
                (Metric::ArrayDirty, share),
                (Metric::ArrayReadCacheUsed, share),
                (Metric::ArrayPerformancePages, 10.0 * share),
                (Metric::ArrayStandardPages, 100.0),
                (Metric::ArrayPromoted, 1e6),
            ];
            sample.rows.push(SampleRow {
                sample: index as u64,
                phase: sample.phase,
                begins_s: sample.ends_s - sample.length_s,
                length_s: sample.length_s,
                scope,
                name: name.to_owned(),
                values: values
                    .map(|(metric, value)| (metric, Some(value)))
                    .into_iter()
                    .collect(),
            });
        }
    }
    run
}

/// Two lines of three points.
fn grid() -> GridResult {
    let axis = |key: &str, values: &[&str]| GridAxis {
        key: key.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let axes = vec![
        axis("array", &["a", "b"]),
        axis("threads", &["8", "16", "24"]),
    ];
    let mut points = Vec::new();
    for array in &axes[0].values {
        for threads in &axes[1].values {
            let count: f64 = threads.parse().expect("a number");
            points.push(GridPoint {
                name: format!("array={array}, threads={threads}"),
                values: [("array", array), ("threads", threads)]
                    .map(|(key, value)| (key.to_owned(), value.clone()))
                    .into(),
                verdict: Some(Verdict::Pass),
                achieved_iops: Some(100.0 * count),
                database_read_ms: Some(count),
                ..GridPoint::default()
            });
        }
    }
    GridResult {
        axes,
        points,
        ..GridResult::default()
    }
}

/// A run directory below `tests/known`.
fn known(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/known")
        .join(name)
}

/// Reports of each kind of run, and of all of them compared.
fn of_each_kind() -> Vec<(&'static str, String)> {
    let names = ["mail", "brokerage", "prediction", "trace"];
    let runs = names.map(|name| report::load_run(&known(name)).expect("a run directory"));
    let mut pages: Vec<(&str, String)> = names.into_iter().zip(runs.iter().map(html)).collect();
    pages.push(("comparison of all", html_comparison(&runs)));
    let mails = [runs[0].clone(), runs[0].clone()];
    pages.push(("comparison of two", html_comparison(&mails)));
    pages
}

/// A page in a frame of this width, which says what is wider than its place: a window of a browser is
/// never as narrow as that of a telephone.
fn framed(page: &str, width: u32) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><body style=\"margin:0\"><iframe width=\"{width}\" height=\"900\" scrolling=\"no\" \
         style=\"border:0\" srcdoc=\"{page}\"></iframe><script>addEventListener('load', () => {{
            const page = document.querySelector('iframe').contentDocument;
            const wide = element => element.scrollWidth > element.clientWidth;
            const found = wide(page.documentElement) ? ['page'] : [];
            const atDesk = {width} > 1000;
            for (const part of page.querySelectorAll('details')) part.open = atDesk;
            for (const card of page.querySelectorAll('.card')) {{
                const isLevels = card.querySelector('tbody.level');
                // On a telephone other tables are moved sideways.
                if ((atDesk || isLevels) && wide(card)) found.push(card.querySelector('thead').innerText);
            }}
            document.body.dataset.width = page.documentElement.clientWidth;
            document.body.dataset.wide = found.join(' ');
        }})</script></body>"
    )
}

#[test]
fn pages_fit_a_telephone_and_a_desk() {
    let Some(browser) = browser() else {
        test_support::skip("Chromium is not installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["--window-size=1400,1000", "--dump-dom"].map(str::to_owned);
    let names = ["mail", "brokerage"];
    let runs = names.map(|name| CertifiedRun {
        run: report::load_run(&known(name)).expect("a run directory"),
        ..CertifiedRun::default()
    });
    let certificate = Certificate::new(&runs, &Details::default()).html();
    let pages = of_each_kind().into_iter();
    for (name, page) in pages.chain([("certificate", certificate)]) {
        for width in [390, 1280] {
            let framed = framed(&page, width);
            let (document, log) = open_with(&browser, directory.path(), &framed, &arguments);
            let measured = format!("data-width=\"{width}\"");
            assert!(document.contains(&measured), "{name} at {width}: {log}");
            let (_, wide) = document.split_once("data-wide=\"").expect("a finding");
            let (wide, _) = wide.split_once('"').expect("its end");
            assert_eq!(wide, "", "{name} at {width} px is clipped");
            let messages = console_messages(&log);
            assert!(messages.is_empty(), "{name}: {messages:?}");
        }
    }
}

#[test]
fn pages_can_be_printed() {
    let Some(browser) = browser() else {
        test_support::skip("Chromium is not installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("page.pdf");
    let arguments = [
        format!("--print-to-pdf={}", file.display()),
        "--no-pdf-header-footer".to_owned(),
    ];
    for (name, page) in of_each_kind() {
        let _ = std::fs::remove_file(&file);
        let (_, log) = open_with(&browser, directory.path(), &page, &arguments);
        let printed = std::fs::read(&file).unwrap_or_else(|error| panic!("{name}: {error} {log}"));
        assert!(printed.starts_with(b"%PDF-"), "{name}");
        assert!(printed.len() > 20_000, "{name}: {} bytes", printed.len());
        let messages = console_messages(&log);
        assert!(messages.is_empty(), "{name}: {messages:?}");
    }
}

/// A script that moves the pointer over the first chart.
const POINTER: &str = "<script>{
    const plot = document.querySelector('.plot');
    const box = plot.getBoundingClientRect();
    const clientX = box.left + box.width / 2;
    const clientY = box.top + box.height / 2;
    plot.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
}</script></body>";

#[test]
fn the_pages_work_in_a_browser() {
    let Some(browser) = browser() else {
        test_support::skip("Chromium is not installed");
        return;
    };
    let mut pages: Vec<(&str, String)> = crate::stories::all()
        .into_iter()
        .filter(|(name, _)| ["fail-device", "hostile-names", "empty"].contains(name))
        .map(|(name, run)| (name, html(&run)))
        .collect();
    pages.push((
        "comparison",
        html_comparison(&crate::stories::three_configurations()),
    ));
    let (_, first) = crate::stories::all().swap_remove(0);
    let prediction = html(&predicted(first));
    for title in [
        "Disk utilization",
        "Data on each tier",
        "SSD read cache in use",
        "Utilization of each disk",
    ] {
        assert!(prediction.contains(title), "no chart: {title}");
    }
    pages.push(("prediction", prediction));
    pages.push(("grid", html_grid(&grid())));
    pages.extend(of_each_kind());
    let directory = tempfile::tempdir().unwrap();
    for (name, page) in pages {
        let (document, log) = open(
            &browser,
            directory.path(),
            &page.replace("</body>", POINTER),
        );
        let charts = page.matches("<figure").count();
        assert!(
            document.contains("data-ready=\"true\""),
            "{name}: the script did not run\n{log}"
        );
        assert!(
            document.contains(&format!("data-charts=\"{charts}\"")),
            "{name}: a chart failed"
        );
        assert!(
            !document.contains("data-broken"),
            "{name}: a name ran as a script"
        );
        if charts > 0 {
            assert!(
                document.contains("<div class=\"readout\" style="),
                "{name}: no read-out"
            );
            let messages = console_messages(&log);
            assert!(messages.is_empty(), "{name}: {messages:?}");
        }
    }
}
