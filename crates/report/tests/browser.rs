//! Opens the pages in a headless Chromium, if there is one: the script runs, no error is logged,
//! and the read-out follows the pointer.

#[path = "../examples/invented/mod.rs"]
mod invented;
#[path = "../examples/stories/mod.rs"]
mod stories;

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
use report::{Run, html, html_comparison, html_grid};

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places =
        std::env::split_paths(&path).flat_map(|place| names.map(|name| place.join(name)));
    places.find(|place| place.is_file())
}

/// The document after its scripts ran, and what the browser wrote about it.
fn open(browser: &Path, directory: &Path, page: &str) -> (String, String) {
    let file = directory.join("page.html");
    std::fs::write(&file, page).expect("the browser's files and process are at hand");
    let (document, log) = (directory.join("document"), directory.join("log"));
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args([
            "--enable-logging=stderr",
            "--window-size=1200,2000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            directory.join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .stdout(Stdio::from(
            std::fs::File::create(&document).expect("the browser's files and process are at hand"),
        ))
        .stderr(Stdio::from(
            std::fs::File::create(&log).expect("the browser's files and process are at hand"),
        ))
        .spawn()
        .expect("the browser's files and process are at hand");
    let timeout = Instant::now() + Duration::from_secs(120);
    while child
        .try_wait()
        .expect("the browser's files and process are at hand")
        .is_none()
    {
        if Instant::now() > timeout {
            child
                .kill()
                .expect("the browser's files and process are at hand");
            child
                .wait()
                .expect("the browser's files and process are at hand");
            panic!("the browser did not end within two minutes");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let read = |path: &Path| {
        String::from_utf8_lossy(
            &std::fs::read(path).expect("the browser's files and process are at hand"),
        )
        .into_owned()
    };
    (read(&document), read(&log))
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
    let mut pages: Vec<(&str, String)> = stories::all()
        .into_iter()
        .filter(|(name, _)| ["fail-device", "hostile-names", "empty"].contains(name))
        .map(|(name, run)| (name, html(&run)))
        .collect();
    pages.push((
        "comparison",
        html_comparison(&stories::three_configurations()),
    ));
    let (_, first) = stories::all().swap_remove(0);
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
            let messages: Vec<&str> = log
                .lines()
                .filter(|line| line.contains("CONSOLE"))
                .collect();
            assert!(messages.is_empty(), "{name}: {messages:?}");
        }
    }
}
