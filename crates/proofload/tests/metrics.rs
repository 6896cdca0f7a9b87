//! What the workloads add to reports: each result finds its workload, and `docs/results.md` has
//! their metrics.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use config::Source;
use measure::display::Better;
use measure::result::RunResult;
use proofload::WORKLOADS;

/// One row for each metric that a workload declares.
fn table() -> String {
    let mut table = "| metric | workload | called | unit | better | meaning |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    for one in WORKLOADS.workloads {
        for metric in one.contribution(&RunResult::default()).metrics {
            let better = match metric.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
            };
            table.push_str(&format!(
                "| `{}` | {} | {} | {} | {better} | {} |\n",
                metric.id,
                one.kind(),
                metric.label,
                metric.unit.text(),
                metric.meaning
            ));
        }
    }
    table
}

#[test]
fn the_settings_in_a_result_lead_to_its_workload() {
    for (kind, client) in [("mail", "thread"), ("brokerage", "user")] {
        let text = format!("kind = \"{kind}\"\n");
        let profile = WORKLOADS.read(&[Source::file("my.toml", &text)]).unwrap();
        let mut result = RunResult::new();
        result.workload.settings = profile.settings();
        assert_eq!(WORKLOADS.contribution(&result).words.client, client);
    }
}

#[test]
fn the_metrics_of_workloads_are_documented() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (mark, end) = (
        "<!-- metrics of workloads -->\n",
        "<!-- end of metrics of workloads -->",
    );
    let (head, rest) = document.split_once(mark).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let right = format!("{head}{mark}{}{end}{tail}", table());
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(&path, right).unwrap();
        return;
    }
    let help = "run this test once with PROOFLOAD_WRITE_DOCS=1 to bring docs/results.md in step";
    assert_eq!(document, right, "{help}");
}
