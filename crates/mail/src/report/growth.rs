//! How much the databases have grown, and for how long their room lasts at that rate.

use config::ByteSize;
use measure::display::number::{bytes, duration, quantity};
use measure::display::{Advice, AdviceId, Cell, Column, Medium, Part, Section, Table};
use measure::metric::Unit;
use measure::result::{DatabaseFigures, RunKind, RunResult};
use measure::sample::Phase;

/// Databases grow in steps; fewer of them say nothing of a rate.
const FEWEST_STEPS: f64 = 4.0;
/// Room for less than a day is a finding.
const SHORTEST_S: f64 = 86_400.0;

/// The growth of databases in the measured phase.
struct Growth {
    bytes_per_hour: f64,
    /// How long the growth reserve lasts.
    lasts_s: f64,
}

/// How a database has grown; `None` where nothing was measured, or it grew by too few steps to say so.
fn growth(result: &RunResult, figures: &DatabaseFigures, databases: u64) -> Option<Growth> {
    if result.kind != RunKind::Run || result.duration_s <= 0.0 {
        return None;
    }
    let setting = |name: &str| result.workload.settings.get(name)?.as_f64();
    let page_size = result.workload.settings.get("engine.page_size");
    let page_size = page_size.and_then(|text| ByteSize::parse(text.as_str()?).ok());
    let page_bytes = page_size.unwrap_or(ByteSize::kib(32)).bytes() as f64;
    let step = setting("engine.extension_pages").unwrap_or(256.0) * page_bytes;
    let grown = figures
        .size_end_bytes
        .saturating_sub(figures.size_begin_bytes) as f64;
    if grown < FEWEST_STEPS * step * databases as f64 {
        return None;
    }
    let reserve_percent = setting("mail.growth_reserve_percent").unwrap_or(25.0);
    let reserve = figures.size_begin_bytes as f64 * reserve_percent / 100.0;
    let bytes_per_s = grown / loaded_s(result);
    Some(Growth {
        bytes_per_hour: bytes_per_s * 3_600.0,
        lasts_s: reserve / bytes_per_s,
    })
}

/// For how long databases have grown since the measured phase began. A run that was interrupted warmed up again
/// in between.
fn loaded_s(result: &RunResult) -> f64 {
    let first = |phase: Phase| {
        result
            .phases
            .iter()
            .skip_while(move |one| one.name != phase.name())
    };
    let warm_ups = first(Phase::Measured).filter(|one| one.name == Phase::WarmUp.name());
    result.duration_s + warm_ups.map(|one| one.duration_s).sum::<f64>()
}

/// Sizes before and after the measured phase; `None` where there was none on real storage.
pub(super) fn section(result: &RunResult) -> Option<Section> {
    if result.kind != RunKind::Run || result.duration_s <= 0.0 || result.databases.is_empty() {
        return None;
    }
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("initial size", ""),
        Column::number("final size", ""),
        Column::number("growth per hour", ""),
        Column::number("reserve lasts", ""),
    ]);
    let row = |name: &str, figures: &DatabaseFigures, databases: u64| {
        let growth = growth(result, figures, databases);
        let lasts = growth
            .as_ref()
            .map(|growth| duration(growth.lasts_s.round()));
        vec![
            Cell::new(name),
            Cell::of(figures.size_begin_bytes as f64, Unit::Bytes),
            Cell::of(figures.size_end_bytes as f64, Unit::Bytes),
            Cell::of(growth.map(|growth| growth.bytes_per_hour), Unit::Bytes),
            Cell::new(lasts.unwrap_or_else(|| "-".to_owned())),
        ]
    };
    for database in &result.databases {
        table.push(row(&database.name, &database.figures, 1));
    }
    if table.rows.len() > 1 {
        table.sums = row("all", &result.totals, result.databases.len() as u64);
    }
    let note = "Growth is that at the rate of this run; a dash stands where the files grew by too few \
                steps to say. The reserve is mail.growth_reserve_percent of the initial size.";
    Some(Section {
        id: "sizes",
        title: "Database sizes",
        sentences: vec![note.to_owned()],
        parts: vec![Part {
            title: "Initial and final size",
            table,
            medium: Medium::Both,
        }],
        folded: None,
    })
}

/// The growth reserve does not last a day.
pub(super) fn advice(result: &RunResult) -> Option<Advice> {
    let databases = result.databases.len() as u64;
    let growth = growth(result, &result.totals, databases)?;
    (growth.lasts_s < SHORTEST_S).then(|| {
        Advice::new(
            AdviceId("growth"),
            "The growth reserve lasts less than a day",
            format!(
                "At {} the databases grew by {} an hour; the reserve for growth lasts {}. A longer run at \
                 this rate needs more free space (mail.growth_reserve_percent), or fewer messages that \
                 arrive (mail.mix.insert_percent).",
                quantity(result.throughput.achieved_iops, Unit::Iops),
                bytes(growth.bytes_per_hour),
                duration(growth.lasts_s.round())
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::DatabaseResult;

    fn grown(bytes: u64) -> RunResult {
        let figures = DatabaseFigures {
            size_begin_bytes: 100 << 30,
            size_end_bytes: (100 << 30) + bytes,
            ..DatabaseFigures::default()
        };
        RunResult {
            duration_s: 3_600.0,
            databases: vec![DatabaseResult {
                figures: figures.clone(),
                ..DatabaseResult::default()
            }],
            totals: figures,
            ..RunResult::default()
        }
    }

    #[test]
    fn a_reserve_that_lasts_less_than_a_day_is_a_finding() {
        // A quarter of 100 GiB lasts 25 hours at 1 GiB an hour.
        assert!(advice(&grown(1 << 30)).is_none());
        let found = advice(&grown(2 << 30)).unwrap();
        assert!(found.text.contains("12 h 30 min"), "{}", found.text);
        let shown = section(&grown(2 << 30)).unwrap();
        let row = &shown.parts[0].table.rows[0];
        assert_eq!(row[3].text, "2 GiB");
    }

    #[test]
    fn a_second_warm_up_is_time_in_which_databases_grow() {
        let mut result = grown(2 << 30);
        let phase = |phase: Phase| measure::result::PhaseResult {
            name: phase.name().to_owned(),
            duration_s: 1_800.0,
            ..measure::result::PhaseResult::default()
        };
        let rate = |result: &RunResult| growth(result, &result.totals, 1).unwrap().bytes_per_hour;
        assert_eq!(rate(&result), (2u64 << 30) as f64);
        result.phases = [
            Phase::WarmUp,
            Phase::Measured,
            Phase::WarmUp,
            Phase::Measured,
        ]
        .map(phase)
        .into();
        assert_eq!(rate(&result) * 1.5, (2u64 << 30) as f64);
    }

    #[test]
    fn a_step_or_two_say_nothing_of_a_rate() {
        let result = grown(8 << 20);
        assert!(growth(&result, &result.totals, 1).is_none());
        let mut predicted = grown(2 << 30);
        predicted.kind = RunKind::Prediction;
        assert!(advice(&predicted).is_none() && section(&predicted).is_none());
    }
}
