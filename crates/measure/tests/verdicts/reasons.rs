//! What verdicts give as their reasons.

use super::*;

#[test]
fn what_ended_a_run_is_its_reason() {
    let totals = totals(&[10; 5]);
    let error = |kind, file: &str| ErrorRecord {
        kind,
        file: file.to_owned(),
        operation: "buying".to_owned(),
        error: "it broke.".to_owned(),
        ..ErrorRecord::default()
    };
    for (errors, reason) in [
        (
            vec![error(ErrorKind::Io, "/a"), error(ErrorKind::Io, "/b")],
            "The storage or the engine reported 2 errors, the first in /a: it broke.",
        ),
        (
            vec![error(ErrorKind::Internal, "")],
            "The storage or the engine reported 1 error: it broke.",
        ),
        (vec![error(ErrorKind::Inconsistent, "/a")], "it broke."),
        (
            vec![error(ErrorKind::OutOfSpace, "/a")],
            "No space was left for /a.",
        ),
    ] {
        let measured = Measured {
            errors: &errors,
            ..measured(&totals)
        };
        let judgement = judge(&ServiceLevels::default(), &measured, &[]);
        assert_eq!(
            (judgement.verdict, judgement.reason.as_str()),
            (Verdict::Error, reason)
        );
        let allowing = Levels {
            allowed_errors: errors.len() as u64,
            ..Levels::default()
        };
        let allowing = allowing.with(OperationLevels::default());
        assert_eq!(judge(&allowing, &measured, &[]).verdict, Verdict::Pass);
    }
    // A server that is gone ends the run, and is no error of its data.
    let gone = [ErrorRecord {
        ended_run: true,
        ..error(ErrorKind::Unavailable, "/a")
    }];
    let measured_until = Measured {
        errors: &gone,
        ..measured(&totals)
    };
    let checks = evaluate(&ServiceLevels::default(), &measured_until);
    let judgement = judge(&ServiceLevels::default(), &measured_until, &checks);
    assert_eq!(
        (judgement.verdict, judgement.reason.as_str()),
        (Verdict::Error, "It ended while buying: it broke.")
    );
    let of_errors = checks.iter().find(|check| check.id == CheckId::Errors);
    let of_errors = of_errors.map(|check| (check.value, check.passed));
    assert_eq!(of_errors, Some((Some(0.0), Some(true))));
    let stopped = Measured {
        interrupted: true,
        ..measured(&totals)
    };
    let judgement = judge(&ServiceLevels::default(), &stopped, &[]);
    assert_eq!(
        judgement.reason,
        "Stopped after 75 s of the measured phase: no check had failed until then."
    );
}

fn counted(class: IntegrityClass, database: &str, errors: u64) -> ErrorCount {
    ErrorCount {
        database: database.to_owned(),
        class: Some(class),
        errors,
        ..ErrorCount::default()
    }
}

#[test]
fn kinds_of_errors_are_named_with_their_numbers_and_places() {
    let hung = |number: usize| counted(IntegrityClass::Hung, &format!("db{number}"), 1);
    let hung = |numbers: usize| (1..=numbers).map(hung).collect::<Vec<_>>();
    let five = "hung request in db1, hung request in db2, hung request in db3, hung request in \
                db4, hung request in db5";
    for (counts, text) in [
        (vec![], String::new()),
        (
            vec![counted(IntegrityClass::Hung, "", 213_304)],
            "213,304 x hung request".to_owned(),
        ),
        (hung(5), five.to_owned()),
        (hung(7), format!("{five}, and 2 further kinds or places")),
    ] {
        assert_eq!(describe_counts(&counts), text);
    }
}

#[test]
fn errors_within_the_allowance_stand_in_the_reason_of_a_pass() {
    let totals = totals(&[10; 5]);
    let levels = Levels {
        allowed_errors: 2_000,
        ..Levels::default()
    };
    let levels = levels.with(OperationLevels::default());
    let listed = [ErrorRecord::default()];
    let counts = [counted(IntegrityClass::Hung, "db1", 1_500)];
    let cases: [(&[ErrorRecord], &[ErrorCount], &str); 3] = [
        (&[], &[], ""),
        (&listed, &[], " There was 1 error of 2,000 allowed."),
        (
            &listed,
            &counts,
            " There were 1,500 errors of 2,000 allowed: 1,500 x hung request in db1.",
        ),
    ];
    for (errors, error_counts, allowed) in cases {
        let measured = Measured {
            errors,
            error_counts,
            ..measured(&totals)
        };
        let checks = [check(CheckId::Errors, "run", 2_000.0, Some(0.0))];
        let judgement = judge(&levels, &measured, &checks);
        assert_eq!(judgement.verdict, Verdict::Pass);
        assert_eq!(judgement.reason, format!("All 1 checks passed.{allowed}"));
        // A check that is added later leaves them there.
        let mut result = RunResult {
            errors: errors.to_vec(),
            error_counts: error_counts.to_vec(),
            ..RunResult::default()
        };
        judgement.enter(checks.to_vec(), &mut result);
        add_checks(&mut result, vec![]);
        assert_eq!(
            result.verdict_reason,
            format!("All 1 checks passed.{allowed}")
        );
    }
}

#[test]
fn an_error_that_ended_the_run_is_distinguished_from_those_before_it() {
    let totals = totals(&[10; 5]);
    let error = |file: &str, ended_run| ErrorRecord {
        file: file.to_owned(),
        error: "it broke".to_owned(),
        ended_run,
        ..ErrorRecord::default()
    };
    let counts = [counted(IntegrityClass::Hung, "db1", 3)];
    for (allowed_errors, errors, error_counts, reason) in [
        (
            5,
            vec![error("/a", false), error("/b", true)],
            &counts[..0],
            "The run could not go on after an error in /b: it broke.",
        ),
        (
            5,
            vec![error("", true)],
            &counts[..],
            "The run could not go on after an error: it broke.",
        ),
        (
            1,
            vec![error("/a", false), error("/b", true)],
            &counts[..0],
            "The storage or the engine reported 2 errors, and could not go on after the one in /b: \
             it broke.",
        ),
        (
            0,
            vec![error("/b", true)],
            &counts[..0],
            "The storage or the engine reported 1 error, the first in /b: it broke.",
        ),
        (
            0,
            vec![],
            &counts[..],
            "The storage or the engine reported 3 errors (3 x hung request in db1).",
        ),
    ] {
        let levels = Levels {
            allowed_errors,
            ..Levels::default()
        };
        let measured = Measured {
            errors: &errors,
            error_counts,
            ..measured(&totals)
        };
        let levels = levels.with(OperationLevels::default());
        let judgement = judge(&levels, &measured, &[]);
        assert_eq!(
            (judgement.verdict, judgement.reason.as_str()),
            (Verdict::Error, reason)
        );
    }
}

#[test]
fn hung_requests_are_judged_where_they_are_looked_for() {
    let totals = totals(&[10; 5]);
    let counts = [
        counted(IntegrityClass::Hung, "db1", 3),
        counted(IntegrityClass::default(), "db1", 9),
        counted(IntegrityClass::Hung, "db2", 4),
    ];
    let measured = Measured {
        error_counts: &counts,
        hung_after_s: Some(30.0),
        ..measured(&totals)
    };
    let checks = evaluate(&ServiceLevels::default(), &measured);
    let hung = |check: &&Check| check.id == CheckId::HungRequests;
    let check = checks.iter().find(hung).unwrap();
    assert_eq!(
        (check.value, check.limit, check.passed),
        (Some(7.0), 0.0, Some(false))
    );
    assert_eq!(
        check.rule,
        "Requests that were not answered within 30 s, in all phases of the run. They count as \
         errors, of which 0 are allowed."
    );
    let unwatched = Measured {
        hung_after_s: None,
        ..measured
    };
    let checks = evaluate(&ServiceLevels::default(), &unwatched);
    assert!(!checks.iter().any(|check| hung(&check)));
}

#[test]
fn a_check_that_is_added_changes_only_what_it_may() {
    let good = check(CheckId::Downtime, "run", 0.0, Some(0.0));
    let bad = check(CheckId::Downtime, "run", 0.0, Some(2.0));
    let failed = "1 of 1 checks failed: downtime is 2 s (limit 0 s).";
    for (before, added, after, reason) in [
        (Verdict::Pass, &good, Verdict::Pass, "All 1 checks passed."),
        (Verdict::Pass, &bad, Verdict::Fail, failed),
        (Verdict::Fail, &bad, Verdict::Fail, failed),
        (Verdict::Inconclusive, &bad, Verdict::Fail, failed),
        (
            Verdict::Inconclusive,
            &good,
            Verdict::Inconclusive,
            "as it was",
        ),
        (Verdict::Error, &bad, Verdict::Error, "as it was"),
        (
            Verdict::Interrupted,
            &bad,
            Verdict::Interrupted,
            "as it was",
        ),
    ] {
        let mut result = RunResult::default();
        result.set_verdict(before, "as it was");
        add_checks(&mut result, vec![added.clone()]);
        assert_eq!(
            (result.verdict, result.verdict_reason.as_str()),
            (after, reason)
        );
        assert_eq!(result.checks.len(), 1);
    }
}

#[test]
fn verdicts_and_bounds_have_their_words() {
    for (verdict, word, status) in [
        (Verdict::Pass, "pass", 0),
        (Verdict::Built, "built", 0),
        (Verdict::Fail, "fail", 1),
        (Verdict::Error, "error", 4),
        (Verdict::Inconclusive, "inconclusive", 5),
        (Verdict::Interrupted, "interrupted", 130),
    ] {
        assert_eq!((verdict.as_str(), verdict.exit_status()), (word, status));
        assert_eq!(format!("{verdict:>14}"), format!("{word:>14}"));
    }
    assert_eq!([Bound::AtMost.sign(), Bound::AtLeast.sign()], ["<=", ">="]);
}
