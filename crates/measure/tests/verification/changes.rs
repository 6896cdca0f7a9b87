//! More of what a changed figure must be found by.

use super::*;

/// The host is looked at a moment after a sample has ended, so its figures are less exact.
#[test]
fn figures_of_the_host_may_be_off_by_three_percent() {
    let run = Run::with(|_| ()).without_hashes();
    let document = serde_json::to_value(&run.result).unwrap();
    let changed_by = |share: f64| {
        let mut changed = document.clone();
        for path in [
            "host.counters[0].average",
            "host.devices[0].reads_per_second",
        ] {
            each_number(&document, "", &mut |own, value| {
                if own == path {
                    let number = value.as_f64().unwrap() * (1.0 + share);
                    changed = replaced(&changed, path, number.into());
                }
            });
        }
        assert_ne!(changed, document);
        run.write_document(&changed);
        run.verified().differences.count
    };
    assert_eq!(changed_by(0.029), 0);
    assert_eq!(changed_by(0.032), 2);
}

/// The rows of `samples.csv`.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines();
    lines
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

fn written(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| row.join(",") + "\n").collect()
}

/// Columns that stand in rows of this scope, but that another row of the sample decides.
fn is_repeated(scope: &str, head: &str) -> bool {
    let is_of_first = scope == "total";
    match head {
        "begins_s" | "length_s" => !is_of_first,
        head => head.starts_with("operation") && scope != "operation",
    }
}

/// Columns that must agree with the histograms of the sample, or with its other rows.
fn is_compared(scope: &str, head: &str) -> bool {
    let is_of_host = Metric::HOST.iter().any(|metric| metric.id() == head);
    let counted = ["_p50_ms", "_p99_ms", "operations_per_second", "iops"];
    let counted = counted.iter().any(|end| head.ends_with(end));
    let is_rate = Stream::ALL
        .iter()
        .any(|stream| head == format!("{stream}_per_second").replace('-', "_"));
    match scope {
        "total" => !is_of_host && !["begins_s", "length_s"].contains(&head),
        "database" | "operation" => counted || is_rate,
        _ => false,
    }
}

#[test]
fn each_value_of_a_sample_that_is_changed_is_found() {
    let run = Run::with(|_| ()).without_hashes();
    let original = rows(&run.read("samples.csv"));
    let heads = &original[0];
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let (scope, name) = (place("scope"), place("name"));
    let mut compared = Vec::new();
    let mut summed = Vec::new();
    for row in (1..original.len()).filter(|row| original[*row][0] == "4") {
        let cells = original[row].iter().enumerate();
        let numbers = cells.filter(|(column, text)| *column > 1 && text.parse::<f64>().is_ok());
        for (column, _) in numbers {
            let (scope, head) = (original[row][scope].as_str(), heads[column].as_str());
            match is_compared(scope, head) {
                _ if is_repeated(scope, head) => {}
                true => compared.push((row, column)),
                // Seen in the sums only.
                false => summed.push((row, column)),
            }
        }
    }
    assert!(
        compared.len() > 60 && summed.len() > 20,
        "{} {}",
        compared.len(),
        summed.len()
    );
    for cells in compared.chunks(AT_ONCE).chain(summed.chunks(1)) {
        let mut rows = original.clone();
        for &(row, column) in cells {
            let value: f64 = rows[row][column].parse().unwrap();
            rows[row][column] = match value.fract() == 0.0 {
                true => format!("{}", 3.0 * value + 30.0),
                false => format!("{:.6}", 1.5 * value + 0.01),
            };
        }
        run.write("samples.csv", &written(&rows));
        let verified = run.verified();
        let found = fields(&verified);
        for &(row, column) in cells.iter().filter(|_| cells.len() > 1) {
            let field = format!("sample 4, {}, {}", original[row][name], heads[column]);
            assert!(
                found.contains(&field.as_str()),
                "{field} is not in {found:?}"
            );
        }
        let (row, column) = cells[0];
        let cell = format!("{} of {}", heads[column], original[row][name]);
        assert_eq!(verified.agreement(), Agreement::None, "{cell}");
    }
}

#[test]
fn histograms_that_are_gone_or_belong_to_no_sample_are_found() {
    let run = Run::with(|_| ()).without_hashes();
    let original = run.read("histograms.hlog");
    let lines: Vec<&str> = original.lines().collect();
    let is_entry = |line: &&&str| line.starts_with("Tag=");
    let of_first = "Tag=db1/database-read,";
    let first = lines.iter().position(|line| line.starts_with(of_first));
    let first = first.unwrap();
    assert!(lines.iter().filter(is_entry).count() > 50);

    let without: Vec<&str> = [&lines[..first], &lines[first + 1..]].concat();
    run.write("histograms.hlog", &(without.join("\n") + "\n"));
    let verified = run.verified();
    assert!(
        fields(&verified).contains(&"databases[0].reads.count"),
        "{:?}",
        fields(&verified)
    );

    for (line, field) in [
        // Of a database that there is not, of a time without a sample, and after the last sample.
        (
            lines[first].replace("db1", "db7"),
            "db7/database-read at 15.000 s",
        ),
        (
            lines[first].replacen(",15.000,", ",19.000,", 1),
            "db1/database-read at 19.000 s",
        ),
        (
            lines[first].replacen(",15.000,", ",900.000,", 1),
            "db1/database-read at 900.000 s",
        ),
    ] {
        assert_ne!(line, lines[first]);
        let mut all: Vec<&str> = lines.clone();
        let begin = |line: &&str| {
            let number = line.split(',').nth(1).and_then(|text| text.parse().ok());
            number.unwrap_or(0.0_f64)
        };
        let own = begin(&line.as_str());
        let after = all.iter().rposition(|one| begin(one) <= own).unwrap();
        all.insert(after + 1, &line);
        run.write("histograms.hlog", &(all.join("\n") + "\n"));
        assert_eq!(fields(&run.verified()), [field]);
    }

    run.write("histograms.hlog", &original.replacen("HIST", "HISU", 1));
    assert_eq!(fields(&run.verified()), ["the file"]);
}

#[test]
fn a_changed_file_is_found_by_its_hash() {
    let run = Run::with(|_| ());
    run.write("log.txt", "something else\n");
    let verified = run.verified();
    assert_eq!(fields(&verified), ["SHA-256"]);
    let one = &verified.differences.listed[0];
    assert_eq!((one.file.as_str(), one.recorded.len()), ("log.txt", 64));
    assert_eq!(verified.files, run.result.files.len() as u64 - 1);

    // Hashes that were left out, whatever the document says of itself.
    let mut run = Run::with(|_| ());
    run.result.files.clear();
    let document = serde_json::to_string_pretty(&run.result).unwrap();
    run.write("result.json", &document);
    let fields_of_files = ["SHA-256"; 3];
    assert_eq!(fields(&run.verified())[1..], fields_of_files);

    // A document that is none any more, but has a hash of another one.
    let run = Run::with(|_| ());
    let text = run.read("result.json");
    run.write(
        "result.json",
        &text.replacen("\"seed\": 7", "\"seed\": 1", 1),
    );
    assert_eq!(fields(&run.verified()), ["document_sha256", "seed"]);
    run.write(
        "result.json",
        &text.replacen("\"seed\": 7", "\"seed\": []", 1),
    );
    let verified = run.verified();
    assert_eq!(fields(&verified), ["document_sha256", "the document"]);
    assert!(verified.result.is_none());

    let run = Run::with(|_| ()).without_hashes();
    let text = run.read("result.json");
    run.write(
        "result.json",
        &text.replacen("\"seed\":7", "\"seed\":[]", 1),
    );
    assert!(verify(&run.path(), &|_, _| Ok(None)).is_err());
}

/// What cannot be verified is said, and is not taken for a change.
#[test]
fn what_could_not_be_compared_is_said() {
    let begins = |verified: &Verified, beginning: &str| {
        let one = verified.not_verified.iter();
        let mut found = one.filter(|sentence| sentence.starts_with(beginning));
        assert!(
            found.next().is_some(),
            "{beginning}: {:?}",
            verified.not_verified
        );
        assert_eq!(fields(verified), Vec::<&str>::new(), "{beginning}");
        assert_eq!(verified.agreement(), Agreement::Partial, "{beginning}");
    };
    let run = Run::with(|_| ()).without_hashes();
    begins(&run.verified(), "result.json has no hashes");

    let run = Run::with(|one| one.complete = false);
    let verified = run.verified();
    begins(&verified, "The run did not end");
    assert_eq!(verified.samples, SAMPLES);
    // A power cut leaves less than was written.
    for file in ["samples.csv", "histograms.hlog"] {
        let text = run.read(file);
        let all = text.len();
        run.write(file, &text[..all / 2]);
        begins(
            &run.verified(),
            "Samples that the result follows from are missing",
        );
        run.write(file, &text);
    }

    let run = Run::with(|_| ());
    let verified = verified_by(&run.path(), &Ok(None));
    begins(&verified, "The verdict was not recomputed");
    assert_eq!(verified.verdict, None);

    let run = Run::with(|_| ()).without_hashes();
    let heads = run.read("samples.csv").lines().next().unwrap().to_owned();
    run.write("samples.csv", &(heads + "\n"));
    begins(&run.verified(), "There are no samples");

    let run = Run::with(|_| ()).without_hashes();
    fs::remove_file(run.path().join("histograms.hlog")).unwrap();
    begins(&run.verified(), "histograms.hlog cannot be read");

    let run = Run::with(|one| one.samples.interval_s = 0.0);
    begins(&run.verified(), "Nothing was measured");
}

#[test]
fn files_that_cannot_be_read_are_differences() {
    let run = Run::with(|_| ()).without_hashes();
    let verified = verified_by(&run.path(), &Err("line 1: unknown key".to_owned()));
    let one = &verified.differences.listed[0];
    assert_eq!(
        (one.file.as_str(), one.recomputed.as_str()),
        ("config.toml", "line 1: unknown key")
    );
    run.write("samples.csv", "a,b\n1,2\n");
    let verified = run.verified();
    assert_eq!(verified.differences.listed[0].file, "samples.csv");
    assert_eq!(verified.differences.count, 1);
}

/// A verdict that says less than the samples may have a reason outside of them; one that says more
/// has none.
#[test]
fn a_verdict_must_follow_from_the_samples_or_say_less() {
    use Verdict::{Built, Error, Fail, Inconclusive, Interrupted, Pass};
    let slow = || {
        let mut criteria = criteria();
        criteria.levels.operations.p90[0].p90_ms = 0.001;
        criteria
    };
    for (recorded, of_samples, may_be) in [
        (Pass, Pass, None),
        (Fail, Pass, Some(false)),
        (Inconclusive, Pass, Some(true)),
        (Error, Pass, Some(true)),
        (Built, Pass, Some(true)),
        (Pass, Fail, Some(false)),
        (Inconclusive, Fail, Some(false)),
        (Error, Fail, Some(false)),
    ] {
        let criteria = if of_samples == Pass {
            criteria()
        } else {
            slow()
        };
        let run = Run::judged_by(&criteria, |one| {
            assert_eq!(one.verdict, of_samples);
            let reason = one.verdict_reason.clone();
            one.set_verdict(recorded, reason);
        });
        let verified = verified_by(&run.path(), &Ok(Some(criteria)));
        let case = format!("{recorded} of {of_samples}");
        let differs = fields(&verified).contains(&"verdict");
        assert_eq!(differs, may_be == Some(false), "{case}");
        assert_eq!(
            verified.not_verified.len(),
            usize::from(may_be == Some(true)),
            "{case}"
        );
        assert_eq!(verified.verdict.is_some(), may_be != Some(true), "{case}");
    }
    // The samples of a run that was stopped say nothing of that.
    let run = Run::with(|one| one.set_verdict(Interrupted, "Stopped."));
    assert_eq!(run.verified().agreement(), Agreement::Whole);
}

/// Causes are looked for only where the checks decide: a run that knew a reason to say less before
/// that has none, whatever its samples would give.
#[test]
fn causes_are_compared_only_where_the_run_looked_for_them() {
    use Verdict::{Error, Inconclusive, Pass};
    for allow_cached in [true, false] {
        let fits_a_cache = |one: &mut RunResult| {
            assert_eq!(one.verdict, Pass);
            one.target.engine_cache_bytes = Some(u64::MAX);
            one.target.allow_cached = allow_cached;
        };
        for verdict in [Inconclusive, Error] {
            let run = Run::with(|one| {
                fits_a_cache(one);
                one.set_verdict(verdict, "The run knew more than its samples.");
            });
            let verified = run.verified();
            assert_eq!(fields(&verified), Vec::<&str>::new(), "{verdict}");
            assert_eq!(verified.agreement(), Agreement::Partial, "{verdict}");
            assert_eq!(verified.verdict, None, "{verdict}");
        }
        let attributed = |one: &mut RunResult| {
            fits_a_cache(one);
            measure::attribution::attribute(one);
            assert_eq!(one.verdict == Pass, allow_cached);
            assert_eq!(one.causes.len(), 1);
        };
        let run = Run::with(attributed);
        assert_eq!(run.verified().agreement(), Agreement::Whole);
        // A cause that does not follow is found, and in a run that passed one that is gone.
        let run = Run::with(|one| {
            attributed(one);
            one.causes.push(one.causes[0].clone());
        });
        assert_eq!(fields(&run.verified()), ["causes"]);
    }
    let run = Run::with(|one| {
        one.target.engine_cache_bytes = Some(u64::MAX);
        one.target.allow_cached = true;
        measure::attribution::attribute(one);
        one.causes.clear();
    });
    assert_eq!(fields(&run.verified()), ["causes"]);
}

#[test]
fn facts_that_are_in_no_sample_are_taken_as_recorded() {
    // Nobody looked for hung requests.
    let run = Run::with(|one| one.checks.retain(|check| check.id != CheckId::HungRequests));
    assert_eq!(fields(&run.verified()), Vec::<&str>::new());
    // Latencies of more than an hour are counted in the run alone.
    let run = Run::with(|one| {
        let [first, second] = one.operations.as_mut_slice() else {
            panic!("two operations");
        };
        for latency in [
            &mut one.totals.reads.latency,
            &mut one.databases[0].figures.log_writes.latency,
            &mut first.service_time,
            &mut second.response_time,
        ] {
            latency.as_mut().unwrap().saturated = 3;
        }
    });
    assert_eq!(fields(&run.verified()), Vec::<&str>::new());
    // The variable of the steady state is the one whose rounds were recorded.
    let run = Run::with(|one| {
        let layout = Arc::new(Layout::new(
            ["db1", "db 2"],
            ["insert".into(), OperationKind::outside_total("commit-lazy")],
        ));
        let mut totals = RunTotals::new(Arc::clone(&layout), INTERVAL_S);
        (1..=SAMPLES).for_each(|number| totals.add(&sample(&layout, number, Phase::Measured)));
        let latencies = totals.average_ms_by_sample(Stream::DatabaseRead);
        let state = SteadyRule::default().judge("read latency", &latencies, INTERVAL_S);
        one.steady_state = Some(state);
    });
    assert_eq!(fields(&run.verified()), Vec::<&str>::new());
}

#[test]
fn an_error_that_was_recorded_is_judged_again() {
    let run = Run::with(|one| {
        one.errors.push(ErrorRecord {
            ended_run: true,
            ..ErrorRecord::default()
        });
    });
    // With it the run cannot have passed.
    assert!(fields(&run.verified()).contains(&"verdict"));
}
