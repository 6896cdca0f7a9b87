//! Outages of a server, and what they explain.

use super::{causes, check, slow};
use crate::result::{
    CauseId, CheckId, OperationResult, OutageCause, OutageResult, RunResult, ServerResult, Verdict,
};

const FAIL: (Verdict, Vec<CauseId>) = (Verdict::Fail, vec![]);

fn open() -> (Verdict, Vec<CauseId>) {
    (Verdict::Inconclusive, vec![CauseId::ServerNotAvailable])
}

/// A measured phase of 100 s in which the server was down for 10 s by each of these causes. It missed the
/// level of downtime alone.
pub(super) fn down(result: &mut RunResult, why: &[OutageCause]) {
    let outage = |(number, &cause): (usize, &OutageCause)| OutageResult {
        begins_s: 60.0 + 20.0 * number as f64,
        length_s: 10.0,
        measured_s: 10.0,
        cause,
        reason: "shut down".to_owned(),
    };
    result.duration_s = 100.0;
    result.server = Some(ServerResult {
        downtime_s: 10.0 * why.len() as f64,
        outages: why.iter().enumerate().map(outage).collect(),
        ..ServerResult::default()
    });
    result.checks = vec![check(CheckId::Downtime, 0.0, 10.0)];
}

fn with(why: &[OutageCause], change: impl Fn(&mut RunResult)) -> (Verdict, Vec<CauseId>) {
    let mut result = slow();
    down(&mut result, why);
    change(&mut result);
    causes(result)
}

#[test]
fn only_outages_that_the_server_explains_are_in_doubt() {
    use OutageCause::{Command, ConnectionLimit, Other};
    let as_it_is = |_: &mut RunResult| ();
    assert_eq!(with(&[Command], as_it_is), open());
    assert_eq!(with(&[ConnectionLimit, Command], as_it_is), open());
    assert_eq!(with(&[Other], as_it_is), FAIL);
    assert_eq!(with(&[Command, Other], as_it_is), FAIL);
    assert_eq!(with(&[], as_it_is), FAIL);
    // Even though a device was busy all the time: a command is no matter of speed.
    let busy = |result: &mut RunResult| result.host.devices[0].busy_fraction = 1.0;
    assert_eq!(with(&[Command], busy), open());
    // Requests that hang are those of the storage.
    let hung =
        |result: &mut RunResult| result.checks = vec![check(CheckId::HungRequests, 0.0, 1.0)];
    assert_eq!(with(&[Command], hung), FAIL);
}

#[test]
fn a_rate_is_in_doubt_where_it_was_reached_while_the_server_was_up() {
    use OutageCause::Command;
    let rate = |per_second: f64| {
        move |result: &mut RunResult| {
            result
                .checks
                .push(check(CheckId::TransactionRate, 100.0, per_second));
        }
    };
    // 10 of 100 seconds down: 90 a second are 100 a second of the rest.
    assert_eq!(with(&[Command], rate(90.0)), open());
    assert_eq!(with(&[Command], rate(89.0)), FAIL);
    // An outage of the warm-up explains nothing of it.
    let earlier = |result: &mut RunResult| {
        rate(90.0)(result);
        result.server.as_mut().unwrap().outages[0].measured_s = 0.0;
    };
    assert_eq!(with(&[Command], earlier), FAIL);
    // A rate that nothing could reach.
    let always = |result: &mut RunResult| {
        rate(90.0)(result);
        result.server.as_mut().unwrap().outages[0].measured_s = 100.0;
    };
    assert_eq!(with(&[Command], always), FAIL);
}

#[test]
fn slow_transactions_are_in_doubt_where_those_that_waited_can_be_the_slow_ones() {
    use OutageCause::{Command, Other};
    // Transactions of the kind, sessions, and how long the outage was.
    let slow = |count: u64, sessions: u64, length_s: f64| {
        move |result: &mut RunResult| {
            let check = super::mix::slow_transactions();
            result.operations = vec![OperationResult {
                name: check.subject.clone(),
                count,
                ..OperationResult::default()
            }];
            result.throughput.threads = Some(sessions);
            result.server.as_mut().unwrap().outages[0].length_s = length_s;
            result.checks.push(check);
        }
    };
    assert_eq!(with(&[Command], slow(40, 4, 10.0)), open());
    assert_eq!(with(&[Command], slow(41, 4, 10.0)), FAIL);
    assert_eq!(with(&[Command], slow(41, 5, 10.0)), open());
    // The limit is half a second.
    assert_eq!(with(&[Command], slow(40, 4, 0.5)), open());
    assert_eq!(with(&[Command], slow(40, 4, 0.49)), FAIL);
    assert_eq!(with(&[Command], slow(0, 4, 10.0)), FAIL);
    assert_eq!(with(&[Other], slow(40, 4, 10.0)), FAIL);
    let earlier = |result: &mut RunResult| {
        slow(40, 4, 10.0)(result);
        result.server.as_mut().unwrap().outages[0].measured_s = 0.0;
    };
    assert_eq!(with(&[Command], earlier), FAIL);
}
