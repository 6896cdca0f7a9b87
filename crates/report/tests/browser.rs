//! Opens the pages in a headless Chromium, if there is one: the script runs, nothing complains,
//! and the read-out follows the pointer.

#[path = "../examples/invented/mod.rs"]
mod invented;
#[path = "../examples/stories/mod.rs"]
mod stories;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use report::{html, html_comparison};

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
    let patience = Instant::now() + Duration::from_secs(120);
    while child
        .try_wait()
        .expect("the browser's files and process are at hand")
        .is_none()
    {
        if Instant::now() > patience {
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
        eprintln!("skipped: no Chromium on the PATH to open the pages with");
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
            let complaints: Vec<&str> = log
                .lines()
                .filter(|line| line.contains("CONSOLE"))
                .collect();
            assert!(complaints.is_empty(), "{name}: {complaints:?}");
        }
    }
}
