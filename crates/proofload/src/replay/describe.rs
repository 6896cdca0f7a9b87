//! A replay in words, for `--dry-run`.

use super::arrivals::Discipline;
use super::plan::Plan;
use crate::error_bars::ParameterSets;
use crate::scenario::Scenario;
use measure::units;

/// What would be replayed on what.
pub fn describe(scenario: &Scenario, plan: &Plan) -> String {
    let survey = &plan.survey;
    let others = survey.requests - survey.reads - survey.writes;
    let mut text = format!(
        "{}: a trace in the format {}: {}, {}, {}, {}, {} with a \
         measured response time\n{}\n",
        scenario.workload,
        plan.format.name(),
        units::count(survey.requests, "request"),
        units::count(survey.reads, "read"),
        units::count(survey.writes, "write"),
        units::count(others, "other"),
        units::count_of(survey.measured),
        plan.planned.settings.title,
    );
    for (volume, of_trace) in plan.volumes.iter().zip(&survey.volumes) {
        let on_array = &plan.planned.settings.volumes[usize::from(volume.id.0)];
        let place = on_array.pool.as_ref().or(on_array.group.as_ref());
        text.push_str(&format!(
            "  {}: {}, reaching {}, on volume {} of {} in {}\n",
            volume.name,
            units::count(of_trace.requests, "request"),
            units::size(of_trace.end_bytes),
            on_array.name,
            units::size(volume.capacity_bytes),
            place.map_or("", String::as_str),
        ));
    }
    let notes = plan.notes().map(str::to_owned);
    let notes = notes.chain(plan.planned.warning());
    for line in plan.planned.events_in_words().chain(notes) {
        text.push_str(&format!("{line}\n"));
    }
    let load = match (plan.discipline, plan.span_ns()) {
        (Discipline::Open { .. }, Some(span_ns)) => {
            format!("by arrival times, over {:.3} s", span_ns as f64 / 1e9)
        }
        (Discipline::Open { .. }, None) => "by arrival times".to_owned(),
        (Discipline::Closed { clients }, _) => {
            format!(
                "in a closed loop of {}",
                units::count(clients as u64, "client")
            )
        }
    };
    text.push_str(&format!(
        "Load: {load}, in samples of {} s of simulated time\n",
        plan.sample_interval_ns as f64 / 1e9
    ));
    let sets = ParameterSets::of(scenario, &plan.description);
    text.push_str(&sets.map_or_else(String::new, |sets| sets.describe()));
    text
}
