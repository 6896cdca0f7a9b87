//! The first page of a certificate of several runs: the answer of all of them, and a row for each.

use std::cmp::Reverse;

use measure::headline::notes;
use measure::recompute::Agreement;
use measure::result::{Check, CheckKind, RunResult, Scope, Verdict};
use measure::service_level::deciding_check;

use super::shared::{NOT_VERIFIED, heading, or_absent, rank, tests};
use super::{Block, CertifiedRun, Fact, Grid, figures, texts};
use crate::number::{ABSENT, beside_limit, bounded, duration};
use crate::tone::Tone;
use crate::words::{Headline, headline, target_text, was_measured, workload_name};

/// How many runs there are, and on which hosts.
pub(super) fn subtitle(runs: &[CertifiedRun]) -> String {
    let mut hosts: Vec<&str> = Vec::new();
    for one in runs {
        let host = or_absent(&one.run.result.host.name);
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let noun = if hosts.len() == 1 { "host" } else { "hosts" };
    format!("{} runs on {noun} {}", runs.len(), hosts.join(", "))
}

/// The worst answer of several runs is that of all of them.
pub(super) fn answer(runs: &[CertifiedRun]) -> Block {
    let all = runs.len();
    let passed = runs.iter().filter(|one| rank(one) == 0).count();
    // The first of those that are equally bad.
    let worst = (1..).zip(runs).min_by_key(|(_, one)| Reverse(rank(one)));
    let Some((number, worst)) = worst.filter(|_| passed < all) else {
        return Block::Answer {
            tone: Tone::Pass,
            word: "PASS".to_owned(),
            sentence: format!("All {all} runs passed and were verified."),
            reason: String::new(),
        };
    };
    let verdict = worst.run.result.verdict;
    let Headline { word, reason, .. } = headline(&worst.run);
    let (tone, word, reason) = match (rank(worst), verdict) {
        (5, _) => (
            Tone::Fail,
            NOT_VERIFIED,
            "Its files were changed after it.".to_owned(),
        ),
        (_, Verdict::Pass) => (
            Tone::Open,
            "INCONCLUSIVE",
            "It passed, and could not be verified in full.".to_owned(),
        ),
        (_, Verdict::Built) => (Tone::Open, "INCONCLUSIVE", reason),
        _ => (Tone::of_verdict(verdict), word, reason),
    };
    Block::Answer {
        tone,
        word: word.to_owned(),
        sentence: format!("{passed} of {all} runs passed and were verified. Run {number} decides."),
        reason,
    }
}

/// What each run has asked and answered, and by which hash it is known.
pub(super) fn tables(runs: &[CertifiedRun]) -> Vec<Block> {
    let numbered = || (1..).zip(runs);
    let hashes = numbered().map(|(number, one)| {
        let hash = or_absent(&one.verified.document_sha256);
        Fact::code(format!("Run {number}, result.json"), hash)
    });
    let answers = Grid {
        columns: vec![
            texts("Run", 0.06),
            texts("Question", 0.34),
            texts("Answer", 0.16),
            texts("Deciding figure", 0.2),
            figures("Measured", 0.12),
            figures("Limit", 0.12),
        ],
        rows: numbered().map(|(number, one)| row(number, one)).collect(),
    };
    let mut blocks = vec![heading("Runs"), Block::Table(answers)];
    let notes = notes_of_runs(runs);
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    blocks.push(heading("Evidence: SHA-256 of the results"));
    blocks.push(Block::Facts(hashes.collect()));
    blocks
}

/// What limits the answers, each with the runs that it is about.
fn notes_of_runs(runs: &[CertifiedRun]) -> Vec<String> {
    let mut about: Vec<(String, Vec<String>)> = Vec::new();
    for (number, one) in (1..).zip(runs) {
        for note in notes(&one.run.result) {
            let number = format!("{number}");
            match about.iter_mut().find(|(known, _)| *known == note) {
                Some((_, numbers)) => numbers.push(number),
                None => about.push((note, vec![number])),
            }
        }
    }
    let line = |(note, numbers): (String, Vec<String>)| {
        let noun = if numbers.len() == 1 { "Run" } else { "Runs" };
        format!("{noun} {}: {note}.", numbers.join(", "))
    };
    about.into_iter().map(line).collect()
}

fn row(number: usize, one: &CertifiedRun) -> Vec<String> {
    let result = &one.run.result;
    let word = headline(&one.run).word;
    let answer = match one.verified.agreement() {
        Agreement::None => NOT_VERIFIED.to_owned(),
        Agreement::Partial => format!("{word}, not verified in full"),
        Agreement::Whole => word.to_owned(),
    };
    let check = deciding(one);
    let of_check = |text: fn(&Check) -> String| check.map_or_else(|| ABSENT.to_owned(), text);
    vec![
        number.to_string(),
        question(result),
        answer,
        of_check(figure_name),
        of_check(|check| {
            let value = check.value.unwrap_or(f64::NAN);
            beside_limit(value, check.limit, check.unit)
        }),
        of_check(|check| {
            let limit = bounded(check.limit, check.unit);
            format!("{} {limit}", check.bound.sign())
        }),
    ]
}

/// What was asked of which storage, for how long.
fn question(result: &RunResult) -> String {
    let name = workload_name(result);
    let asked = match result.workload.question.as_str() {
        "" => name.to_owned(),
        question => format!("{name}: {question}"),
    };
    let tests = match tests(result) {
        none if none.is_empty() => none,
        tests => format!("; {tests}"),
    };
    let time = match was_measured(result) {
        true => format!(", {}", duration(result.duration_s)),
        false => String::new(),
    };
    format!("{asked}{tests}{time}, on {}", target_text(result))
}

fn figure_name(check: &Check) -> String {
    let of = match check.scope() {
        Scope::Run => String::new(),
        Scope::Database | Scope::Log => format!(" of {}", check.place),
    };
    format!("{}{of}", check.name)
}

/// The check that the verdict names; of a run that passed, the one that is nearest to its limit. A run that
/// did not end, and one that was changed, have none.
fn deciding(one: &CertifiedRun) -> Option<&Check> {
    let result = &one.run.result;
    let failed: Vec<&Check> = result.failed_checks().collect();
    match result.verdict {
        _ if one.verified.agreement() == Agreement::None => None,
        Verdict::Fail | Verdict::Error | Verdict::Inconclusive => deciding_check(&failed),
        Verdict::Interrupted | Verdict::Built => None,
        Verdict::Pass => {
            let judged = result.checks.iter().filter(|check| check.limit > 0.0);
            // How much was backed up or replayed says less than how fast, and the mix less than a latency.
            let weight =
                |check: &Check| !matches!(check.kind(), CheckKind::Completion | CheckKind::Mix);
            let nearness = |check: &Check| check.excess() / check.limit;
            judged.max_by(|a, b| {
                let by_kind = weight(a).cmp(&weight(b));
                by_kind.then(nearness(a).total_cmp(&nearness(b)))
            })
        }
    }
}
