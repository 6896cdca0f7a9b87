//! How long the phases of a run take, before it begins.

use std::fmt::Write;

use measure::display::number::duration;
use measure::display::samples;
use measure::units;
use workload::controller::RunPlan;
use workload::controller::plan::LoadSearch;
use workload::profile::{Run, TimeSpan};

/// Speed of reading and writing by which times are estimated, bytes per second. Nobody knows that of the
/// storage before the run; this one is easy to divide by.
const ASSUMED_BYTES_PER_S: f64 = 100.0 * 1_048_576.0;

/// What takes time in a run besides warm-up and measured phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedWork {
    /// Bytes to be written before the load; 0 if the databases are there.
    pub build_bytes: u64,
    /// Bytes of the copies that are put in the places of the databases first.
    pub restored_bytes: u64,
    /// How far the build is with which the run goes on, such as `1 of 2 databases built`; `None` when it
    /// builds all of them.
    pub resumed_build: Option<String>,
    /// Bytes of kept databases that are read first, to be compared with what the last run left; 0 if nothing is.
    pub kept_bytes: u64,
    /// Bytes that are read before the load, to be compared with those after it; 0 if nothing is.
    pub compared_bytes: u64,
    /// Whether the run ends when the databases are built.
    pub build_only: bool,
    /// What is tried before the measured phase to find the load.
    pub search: PlannedSearch,
    /// What is done after the load, such as `verification`.
    pub verification: &'static str,
    /// Bytes that are read for it; 0 if it is left out.
    pub verified_bytes: u64,
    /// Whether the warm-up waits for full caches of our own engine.
    pub fills_caches: bool,
    /// What is tested besides a load that is measured, or in place of it.
    pub tests: PlannedTests,
    /// What an interruption has left of the measured phase; `None` when there was none.
    pub left_of_measured_phase: Option<TimeSpan>,
    /// What is odd about the load, as a sentence; empty when nothing is.
    pub warning: String,
}

/// Steps before the measured phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedSearch {
    /// What they are for, such as `finds the number of threads`; empty without steps.
    pub purpose: String,
    /// The shortest time for them.
    pub shortest: TimeSpan,
    /// The longest time for them.
    pub longest: TimeSpan,
}

impl PlannedSearch {
    /// The steps of a run with this plan.
    #[must_use]
    pub fn of(plan: &RunPlan) -> Self {
        let (run, tuning) = (&plan.run, &plan.tuning);
        let search = plan.search();
        let searches = match search {
            LoadSearch::None => return Self::default(),
            LoadSearch::Threads => "finds the number of threads",
            LoadSearch::Maximum => "finds the highest rate that keeps every service level",
            LoadSearch::CurveOnly => "",
        };
        let parts = match search {
            LoadSearch::Threads => 0,
            _ => tuning.curve_percent.len(),
        };
        let step_s = tuning.times(run).shortest_step_s;
        let curve = match parts {
            0 => String::new(),
            parts => format!("curve of {parts} steps of {} or more", duration(step_s)),
        };
        let purpose = [searches.to_owned(), curve].into_iter();
        let purpose: Vec<String> = purpose.filter(|part| !part.is_empty()).collect();
        Self {
            purpose: purpose.join(", then a "),
            shortest: TimeSpan((parts as f64 * step_s * 1e9) as u64),
            longest: tuning.longest(run, search != LoadSearch::CurveOnly),
        }
    }
}

/// The tests that end when their work does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedTests {
    /// Whether no load is measured.
    pub without_measured_phase: bool,
    /// Bytes that a backup reads; 0 without one.
    pub backup_bytes: u64,
    /// Whether the load runs meanwhile.
    pub backup_under_load: bool,
    /// Whether copies are written, which are then read, compared and recovered.
    pub with_copies: bool,
    /// Bytes of the databases that passive copies are made of, and that are compared with them; 0 without.
    pub seeded_bytes: u64,
    /// Bytes of log files that soft recovery replays; 0 without it.
    pub replayed_bytes: u64,
}

impl PlannedWork {
    /// Whether latencies and rates are judged.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        !self.build_only
            && !self.tests.without_measured_phase
            && self.left_of_measured_phase != Some(TimeSpan(0))
    }

    fn measured_length(&self, run: &Run) -> TimeSpan {
        self.left_of_measured_phase.unwrap_or(run.duration)
    }

    /// Whether sessions run before, or during, what is tested.
    fn is_loaded(&self) -> bool {
        self.is_measured() || self.tests.backup_under_load
    }
}

/// The phases of a run with their times, a line each, and the time in all.
#[must_use]
pub fn describe(run: &Run, work: &PlannedWork) -> String {
    let mut text = "Plan:\n".to_owned();
    let (mut shortest_s, mut longest_s) = (0.0, 0.0);
    let mut add = |name: &str, what: &str, least_s: f64, most_s: f64| {
        let _ = writeln!(text, "  {name}: {what}");
        shortest_s += least_s;
        longest_s += most_s;
    };
    let seconds = |bytes: u64| bytes as f64 / ASSUMED_BYTES_PER_S;
    let bytes_line = |add: &mut dyn FnMut(&str, &str, f64, f64), name, purpose, bytes: u64| {
        if bytes > 0 {
            let time = duration(seconds(bytes).max(1.0).round());
            let what = format!("{} {purpose}, {time} at 100 MiB/s", units::size(bytes));
            add(name, &what, seconds(bytes), seconds(bytes));
        }
    };
    bytes_line(&mut add, "restore", "to copy", work.restored_bytes);
    if let Some(built) = &work.resumed_build {
        add("interrupted build", &format!("goes on, {built}"), 0.0, 0.0);
    }
    let purpose = match work.resumed_build {
        Some(_) => "to write, or read where it is there",
        None => "to write",
    };
    bytes_line(&mut add, "build", purpose, work.build_bytes);
    let purpose = "to read and compare with those of the last run";
    bytes_line(&mut add, "check of kept rows", purpose, work.kept_bytes);
    bytes_line(
        &mut add,
        "rows before the load",
        "to read",
        work.compared_bytes,
    );
    let seeded_bytes = match work.build_only {
        true => 0,
        false => work.tests.seeded_bytes,
    };
    bytes_line(
        &mut add,
        "seeding of passive copies",
        "to read and copy",
        seeded_bytes,
    );
    if !work.build_only && work.is_loaded() {
        let length = run.warm_up.on_storage();
        let most = longest_warm_up(run, work);
        let (least_s, most_s) = (length.shortest.as_seconds(), most.as_seconds());
        add("warm-up", &warm_up_of(run, work), least_s, most_s);
    }
    if work.is_measured() {
        let search = &work.search;
        if !search.purpose.is_empty() {
            let (least_s, most_s) = (search.shortest.as_seconds(), search.longest.as_seconds());
            let what = format!("{}, {} at most", search.purpose, duration(most_s));
            add("tuning", &what, least_s, most_s);
        }
        let (length_s, interval) = (
            work.measured_length(run).as_seconds(),
            run.sample_interval(),
        );
        let interval_s = interval.as_seconds();
        // The last one counts from half the interval on. The others end some milliseconds late, at its expense.
        let number = (length_s / interval_s + 0.49) as u64;
        let samples = samples(number, interval_s, length_s);
        let rest = match work.left_of_measured_phase.is_some() {
            true => format!(" that are left of {}", duration(run.duration.as_seconds())),
            false => String::new(),
        };
        let what = format!("{}{rest}, {samples}", duration(length_s));
        add("measured phase", &what, length_s, length_s);
    }
    if !work.build_only {
        let tests = &work.tests;
        let backed_up = match (tests.with_copies, tests.backup_under_load) {
            (false, false) => "to read",
            (true, false) => "to read and copy",
            (false, true) => "to read under load",
            (true, true) => "to read and copy under load",
        };
        bytes_line(&mut add, "backup", backed_up, tests.backup_bytes);
        bytes_line(
            &mut add,
            "comparison of passive copies",
            "to read",
            seeded_bytes,
        );
        let bytes = tests.replayed_bytes;
        bytes_line(&mut add, "log files for soft recovery", "to write", bytes);
        bytes_line(&mut add, "soft recovery", "to replay", bytes);
        // Databases grow under load; nobody knows by how much.
        let verified = match work.is_loaded() {
            true => "or more to read",
            false => "to read",
        };
        bytes_line(&mut add, work.verification, verified, work.verified_bytes);
        let bytes = if tests.with_copies {
            tests.backup_bytes
        } else {
            0
        };
        bytes_line(
            &mut add,
            "check of the copies",
            "to read and restore",
            bytes,
        );
    }
    let handled_bytes = work.tests.backup_bytes + work.tests.replayed_bytes + seeded_bytes;
    let written_bytes = work.build_bytes + work.restored_bytes;
    let read_bytes = work.kept_bytes + work.compared_bytes + work.verified_bytes;
    let (condition, digits) = match written_bytes + read_bytes + handled_bytes {
        0 => ("", 1e3),
        _ => (" if the storage writes and reads 100 MiB/s", 1.0),
    };
    let planned = |seconds: f64| duration((seconds * digits).round() / digits);
    let (from, to) = (planned(shortest_s), planned(longest_s));
    let total = match from == to {
        true => format!("about {to}"),
        false => format!("{from} to {to}"),
    };
    let _ = writeln!(text, "  in all: {total}{condition}");
    if !work.warning.is_empty() {
        let _ = writeln!(text, "Warning: {}", work.warning);
    }
    text
}

fn waits_for_caches(run: &Run, work: &PlannedWork) -> bool {
    work.fills_caches && run.warm_up.cache_fill_percent > 0.0
}

/// The longest warm-up: with caches full from the beginning it waits for a steady load alone, no longer
/// than the measured phase lasts.
fn longest_warm_up(run: &Run, work: &PlannedWork) -> TimeSpan {
    let length = run.warm_up.on_storage();
    match waits_for_caches(run, work) {
        true => length.longest,
        false if length.until_steady => length.longest.min(run.duration.max(length.shortest)),
        false => length.shortest,
    }
}

fn warm_up_of(run: &Run, work: &PlannedWork) -> String {
    let length = run.warm_up.on_storage();
    let longest = longest_warm_up(run, work);
    if longest == TimeSpan(0) {
        return "none".to_owned();
    }
    let fill_percent = run.warm_up.cache_fill_percent;
    let full = waits_for_caches(run, work);
    let full = full.then(|| format!("the database caches are {fill_percent} % full"));
    let steady = length.until_steady.then(|| {
        let at_most = duration(run.duration.as_seconds());
        match full.is_some() && run.duration < longest {
            true => format!("the load is steady (for which it waits {at_most} at most)"),
            false => "the load is steady".to_owned(),
        }
    });
    let reasons: Vec<String> = full.into_iter().chain(steady).collect();
    let until = match reasons.is_empty() {
        true => String::new(),
        false => format!("until {}, ", reasons.join(" and ")),
    };
    let most = duration(longest.as_seconds());
    let least = match length.shortest {
        TimeSpan(0) => String::new(),
        least if least == longest => return most,
        least => format!("{} at least, ", duration(least.as_seconds())),
    };
    format!("{until}{least}{most} at most")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_its_time_and_the_sum_holds_them() {
        let work = PlannedWork {
            build_bytes: 96 << 30,
            kept_bytes: 24 << 30,
            compared_bytes: 48 << 30,
            search: PlannedSearch {
                purpose: "finds the number of threads".to_owned(),
                shortest: TimeSpan(0),
                longest: TimeSpan::seconds(3_600),
            },
            verification: "verification",
            verified_bytes: 96 << 30,
            fills_caches: true,
            ..PlannedWork::default()
        };
        let text = describe(&Run::default(), &work);
        let expected = "Plan:\n\
            \x20 build: 96 GiB to write, 16 min 23 s at 100 MiB/s\n\
            \x20 check of kept rows: 24 GiB to read and compare with those of the last run, 4 min 6 s at 100 MiB/s\n\
            \x20 rows before the load: 48 GiB to read, 8 min 12 s at 100 MiB/s\n\
            \x20 warm-up: until the database caches are 90 % full and the load is steady, 15 min at most\n\
            \x20 tuning: finds the number of threads, 1 h at most\n\
            \x20 measured phase: 2 h, 480 samples of 15 s\n\
            \x20 verification: 96 GiB or more to read, 16 min 23 s at 100 MiB/s\n\
            \x20 in all: 2 h 45 min to 4 h if the storage writes and reads 100 MiB/s\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn tests_without_a_measured_phase_have_their_lines() {
        let mut work = PlannedWork {
            verification: "verification",
            tests: PlannedTests {
                without_measured_phase: true,
                backup_bytes: 96 << 30,
                replayed_bytes: 2_000 << 20,
                ..PlannedTests::default()
            },
            ..PlannedWork::default()
        };
        assert_eq!(
            describe(&Run::default(), &work),
            "Plan:\n\
             \x20 backup: 96 GiB to read, 16 min 23 s at 100 MiB/s\n\
             \x20 log files for soft recovery: 1.95 GiB to write, 20 s at 100 MiB/s\n\
             \x20 soft recovery: 1.95 GiB to replay, 20 s at 100 MiB/s\n\
             \x20 in all: about 17 min 3 s if the storage writes and reads 100 MiB/s\n"
        );
        work.tests.backup_under_load = true;
        work.tests.with_copies = true;
        work.tests.seeded_bytes = 96 << 30;
        let text = describe(&Run::default(), &work);
        for line in [
            "seeding of passive copies: 96 GiB to read and copy",
            "comparison of passive copies: 96 GiB to read",
            "warm-up",
            "read and copy under load",
            "check of the copies: 96 GiB",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn a_phase_that_is_no_multiple_of_its_samples_is_planned_as_it_is_measured() {
        let planned = |millis| {
            let run = Run {
                duration: TimeSpan::millis(millis),
                sample_interval: Some(TimeSpan::seconds(1)),
                ..Run::default()
            };
            let work = PlannedWork::default();
            describe(&run, &work)
        };
        let text = planned(5_400);
        let line = "measured phase: 5.40 s, 5 samples of 1 s and a shorter one\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("in all: 5.40 s to "), "{text}");
        let text = planned(5_600);
        let line = "measured phase: 5.60 s, 6 samples of 1 s or less\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn what_is_not_done_is_not_planned() {
        let built = PlannedWork {
            build_bytes: 200 << 20,
            build_only: true,
            ..PlannedWork::default()
        };
        let text = describe(&Run::default(), &built);
        assert_eq!(
            text,
            "Plan:\n  build: 200 MiB to write, 2 s at 100 MiB/s\n  in all: about 2 s if the storage \
             writes and reads 100 MiB/s\n"
        );
        let mut run = Run {
            duration: TimeSpan::seconds(60),
            ..Run::default()
        };
        let cached = PlannedWork {
            fills_caches: true,
            ..PlannedWork::default()
        };
        let warm_up = |work| warm_up_of(&run, work);
        assert_eq!(
            warm_up(&cached),
            "until the database caches are 90 % full and the load is steady (for which it waits 1 min at most), \
             15 min at most"
        );
        assert_eq!(
            warm_up(&PlannedWork::default()),
            "until the load is steady, 1 min at most"
        );
        run.warm_up.maximum = Some(TimeSpan(0));
        let text = describe(&run, &PlannedWork::default());
        assert_eq!(
            text,
            "Plan:\n  warm-up: none\n  measured phase: 1 min, 30 samples of 2 s\n  in all: about 1 min\n"
        );
    }
}
