//! What crash tests have gone through, as a table.

use std::fmt;

use measure::units;

use super::{CrashtestOutcome, FaultKind};

/// What the columns mean.
const LEGEND: &str = "
reported: the engine said what was wrong. at the end: of those, when the closed database was
read back, and not before. cut before: a power cut ended the process that knew the versions of
the pages before it read the wrong ones again, and no row was wrong afterwards. not shown: rows
were wrong afterwards, and nothing in the files shows the fault. All others did no harm.
";

impl fmt::Display for CrashtestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(self))
    }
}

fn describe(outcome: &CrashtestOutcome) -> String {
    let (totals, simulated) = (&outcome.totals, outcome.simulated);
    let seeds = outcome.seeds;
    let seconds = outcome.elapsed.as_secs_f64();
    let end = if outcome.is_interrupted {
        format!("interrupted after {}", units::count(simulated, "seed"))
    } else {
        "none failed".to_owned()
    };
    let count = units::count_of;
    let mut text = format!(
        "{} from {}: {end}, in {seconds:.1} s ({} a second)\n  {} acknowledged, {} ({} of them during \
         recovery), {}, {} repeated, {} taken back, {} restored from images\n\n",
        units::count(seeds.count, "seed"),
        seeds.from,
        count((simulated as f64 / seconds.max(0.001)).round() as u64),
        units::count(totals.acknowledged, "commit"),
        units::count(totals.power_cuts, "power cut"),
        count(totals.cut_recoveries),
        units::count(totals.checked, "full check"),
        units::count(totals.redone, "page operation"),
        units::count(totals.undone, "transaction"),
        units::count(totals.restored_pages, "page"),
    );
    let mut line = |name: &str, cells: [&str; 6]| {
        text.push_str(&format!("  {name:<24}"));
        for cell in cells {
            text.push_str(&format!("{cell:>11}"));
        }
        text.push('\n');
    };
    line(
        "fault",
        [
            "seeds",
            "injected",
            "reported",
            "at the end",
            "cut before",
            "not shown",
        ],
    );
    let kinds = FaultKind::ALL.iter().map(|kind| {
        let of_kind = totals.kinds.get(kind).copied().unwrap_or_default();
        (kind.to_string(), of_kind)
    });
    let torn = ("torn page, detect only".to_owned(), totals.torn_pages);
    for (name, of_kind) in kinds.chain([torn]) {
        let cells = [
            of_kind.seeds,
            of_kind.injected,
            of_kind.reported,
            of_kind.found_at_the_end,
            of_kind.cut_before,
            of_kind.not_shown,
        ];
        let cells = cells.map(count);
        line(&name, cells.each_ref().map(String::as_str));
    }
    text.push_str(LEGEND);
    text
}
