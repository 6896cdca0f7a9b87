//! Runs that met their levels and were not steady.

use super::*;

/// A run whose levels were met, and which was not steady though that is required.
fn unsteady() -> RunResult {
    let mut result = passed();
    result.steady_state = Some(SteadyState {
        steady: Some(false),
        ..SteadyState::default()
    });
    result.set_verdict(Verdict::Inconclusive, "No steady state.");
    result
}

#[test]
fn a_busy_host_is_named_before_the_steadiness_that_it_may_explain() {
    let expected = (Verdict::Inconclusive, vec![CauseId::HostBusy]);
    assert_eq!(causes(unsteady()), (Verdict::Inconclusive, vec![]));
    let mut result = unsteady();
    counter(&mut result, Metric::CpuBusy, 100.0);
    counter(&mut result, Metric::ProcessCpu, 40.0);
    assert_eq!(causes(result.clone()), expected);
    attribute(&mut result);
    let reason = &result.verdict_reason;
    assert!(reason.starts_with("The host may have"), "{reason}");
    assert!(reason.ends_with("run again. No steady state."), "{reason}");
    // A device that was busy all the time is the nearer reason.
    let mut result = unsteady();
    counter(&mut result, Metric::CpuBusy, 100.0);
    counter(&mut result, Metric::ProcessCpu, 40.0);
    result.host.devices[0].busy_fraction = 0.95;
    assert_eq!(causes(result), (Verdict::Inconclusive, vec![]));
    // Nobody asked for steadiness.
    let mut result = unsteady();
    counter(&mut result, Metric::CpuBusy, 100.0);
    counter(&mut result, Metric::ProcessCpu, 40.0);
    let settings = &mut result.workload.settings;
    settings.insert("run.steady_state.required".to_owned(), false.into());
    assert_eq!(causes(result), (Verdict::Inconclusive, vec![]));
    // In a run that failed, too, the host is the first cause.
    let mut result = slow();
    result.steady_state = unsteady().steady_state;
    counter(&mut result, Metric::CpuBusy, 100.0);
    counter(&mut result, Metric::ProcessCpu, 40.0);
    let both = [CauseId::HostBusy, CauseId::NotSteady];
    assert_eq!(causes(result), (Verdict::Inconclusive, both.to_vec()));
}

#[test]
fn too_few_samples_are_a_cause_beside_the_reason() {
    let mut result = passed();
    result.samples.count = 4;
    result.set_verdict(Verdict::Inconclusive, "Only 4 samples were taken.");
    attribute(&mut result);
    assert_eq!(result.causes[0].id, CauseId::TooFewSamples);
    assert_eq!(result.verdict_reason, "Only 4 samples were taken.");
}
