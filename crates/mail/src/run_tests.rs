//! Whole runs on the virtual clock, over a store in memory on a disk with a queue.

mod sessions;

use crate::plan::MailPlan;
use crate::population::PopulationState;
use crate::profile::MailProfile;
use crate::session::MailDatabase;
use crate::test_store::{TestDisk, TestStore};
use config::{ByteSize, TimeSpan};
use measure::result::{RunResult, TuningStep, Verdict};
use measure::sample::{Phase as SamplePhase, Recorder, Sample};
use runtime::{Handle, IoObserver, Runtime};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::host::{
    BuiltDatabase, DatabaseHost, OnFound, OnStep, OpenedDatabase, Progress, VerifyReport,
};
use workload::controller::{InterimResult, RunListener, run_on_virtual_clock};
use workload::failure::Failure;
use workload::progress::{ByteProgress, LiveSample, Phase, PhaseEstimate, Remaining, StopRequest};

const DISK: TestDisk = TestDisk {
    servers: 8,
    service_ns: 4_000_000,
    reads_per_operation: 1,
};

/// Keeps databases in memory, on one disk each.
struct TestHost {
    handle: Handle,
    plan: Arc<MailPlan>,
    disk: TestDisk,
    /// The databases that are there already.
    kept: &'static [usize],
    /// Requests until everything fails.
    fail_after: u64,
}

impl DatabaseHost for TestHost {
    type Database = MailDatabase<TestStore>;

    async fn build(
        &self,
        database: usize,
        _: Rc<dyn IoObserver>,
        progress: Progress,
        _: OnFound,
    ) -> Result<BuiltDatabase, Failure> {
        let steps = if self.kept.contains(&database) { 0 } else { 10 };
        for step in 1..=steps {
            self.handle.sleep_ns(100_000_000).await;
            progress(self.plan.run.database_bytes / 10 * step);
        }
        Ok(BuiltDatabase {
            size_bytes: self.plan.run.database_bytes,
        })
    }

    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        _: OnStep,
    ) -> Result<OpenedDatabase<Self::Database>, Failure> {
        let maker = self.plan.item_maker(database, self.plan.built_rows);
        let items = (0..self.plan.built_rows).map(move |row| maker.first(row));
        let store = TestStore::new(&self.handle, self.disk, observer, database, items);
        store.fail_after(self.fail_after);
        let built_rows = self.plan.built_rows;
        let population = PopulationState {
            built_rows,
            next_row: built_rows,
            deletes: 0,
        };
        let (plan, handle) = (&self.plan, &self.handle);
        Ok(OpenedDatabase {
            database: plan.loaded(database, handle, store, population, recorder),
            note: String::new(),
        })
    }

    async fn close(&self, _: usize, open: Self::Database, whole: bool) -> Result<(), Failure> {
        let rows = open.settled_rows().filter(|_| whole);
        // A shard whose own databases did not fail closes them with their rows.
        assert!(rows.is_some() || self.fail_after < u64::MAX);
        assert!(rows.is_none_or(|rows| rows.next_row > rows.built_rows && rows.deletes > 0));
        Ok(())
    }

    async fn verify(&self, _: usize, progress: Progress) -> Result<VerifyReport, Failure> {
        progress(self.plan.run.database_bytes);
        Ok(VerifyReport::default())
    }
}

/// Remembers what it hears, and asks to stop in the middle.
#[derive(Clone, Default)]
struct Heard {
    /// Phases as they began, and as they were reported.
    begun: Rc<RefCell<Vec<Phase>>>,
    phases: Rc<RefCell<Vec<Phase>>>,
    samples: Rc<RefCell<Vec<LiveSample>>>,
    progress: Rc<RefCell<Vec<ByteProgress>>>,
    outlooks: Rc<RefCell<Vec<PhaseEstimate>>>,
    stop_after_samples: Option<usize>,
    stop: StopRequest,
}

impl RunListener for Heard {
    fn begins(&mut self, phase: Phase) {
        self.begun.borrow_mut().push(phase);
    }

    fn phase(&mut self, phase: Phase, _: Option<std::time::Duration>) {
        assert_eq!(self.begun.borrow().last(), Some(&phase), "it has begun");
        self.phases.borrow_mut().push(phase);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.progress.borrow_mut().push(progress);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.outlooks.borrow_mut().extend(figures.estimate.clone());
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: InterimResult<'_>) {
        let so_far = so_far.result();
        // Should the run be interrupted now, this document is what stays of it. After a failure the
        // shards that have not failed still count until they have closed.
        let verdict = match so_far.errors.is_empty() {
            true => Verdict::Interrupted,
            false => Verdict::Error,
        };
        assert_eq!((so_far.complete, so_far.verdict), (false, verdict));
        let phase = self.phases.borrow().last().copied();
        match sample.phase {
            SamplePhase::WarmUp => assert_eq!(phase, Some(Phase::WarmingUp)),
            SamplePhase::Tuning => assert_eq!(phase, Some(Phase::Tuning)),
            SamplePhase::Measured => assert_eq!(phase, Some(Phase::Measuring)),
            _ => {}
        }
        if sample.phase == SamplePhase::Measured {
            self.samples.borrow_mut().push(figures.clone());
            if Some(self.samples.borrow().len()) == self.stop_after_samples {
                self.stop.stop();
            }
        }
    }
}

fn profile() -> MailProfile {
    let mut profile = MailProfile::default();
    let mail = &mut profile.mail;
    mail.databases = 3;
    mail.mailboxes_per_database = 10;
    mail.mailbox_size = ByteSize::kib(200);
    mail.iops_per_mailbox = 10.0;
    mail.threads = Some(12);
    mail.session_pause_factor = 0.0;
    mail.item.short_bytes = 20;
    mail.item.long_bytes = 40;
    profile.run.duration = TimeSpan::seconds(60);
    profile.run.sample_interval = Some(TimeSpan::seconds(5));
    profile
}

fn run_on(disk: TestDisk, profile: &MailProfile, fail_after: u64, heard: Heard) -> RunResult {
    run_with(disk, MailPlan::new(profile, 2), &[], fail_after, heard)
}

fn run_with(
    disk: TestDisk,
    plan: MailPlan,
    kept: &'static [usize],
    fail_after: u64,
    heard: Heard,
) -> RunResult {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let mut base = RunResult::new();
    base.started = "2025-03-01T12:00:00Z".to_owned();
    runtime.block_on(async move {
        let stop = heard.stop.clone();
        let for_hosts = handle.clone();
        let run = plan.run.clone();
        let plan = Arc::new(plan);
        let make = move |_| TestHost {
            handle: for_hosts.clone(),
            plan: Arc::clone(&plan),
            disk,
            kept,
            fail_after,
        };
        run_on_virtual_clock(
            handle,
            run,
            base,
            stop,
            workload::controller::shared(heard),
            make,
        )
        .await
    })
}

fn run(profile: &MailProfile) -> RunResult {
    run_on(DISK, profile, u64::MAX, Heard::default())
}

#[test]
fn a_run_goes_through_its_phases_and_adds_up() {
    let heard = Heard::default();
    let result = run_on(DISK, &profile(), u64::MAX, heard.clone());
    let phases = [
        Phase::Building,
        Phase::Opening,
        Phase::WarmingUp,
        Phase::Measuring,
        Phase::Closing,
        Phase::Verifying,
    ];
    assert_eq!(*heard.phases.borrow(), phases);
    assert_eq!(
        (result.verdict, result.complete),
        (Verdict::Pass, true),
        "{result:#?}"
    );
    assert!(
        (59.9..60.1).contains(&result.duration_s),
        "{}",
        result.duration_s
    );
    assert_eq!(
        (result.samples.count, heard.samples.borrow().len()),
        (12, 12)
    );
    assert_eq!(result.databases.len(), 3);
    // 12 sessions on 3 databases with 8 servers of 4 ms each: nobody queues for long.
    let counts: Vec<u64> = result
        .operations
        .iter()
        .map(|operation| operation.count)
        .collect();
    let operations: u64 = counts[..5].iter().sum();
    for (count, share) in counts.iter().zip([0.4, 0.2, 0.05, 0.35]) {
        assert!(
            (*count as f64 / operations as f64 - share).abs() < 0.005,
            "{counts:?}"
        );
    }
    let reads: u64 = result
        .databases
        .iter()
        .map(|database| database.figures.reads.count)
        .sum();
    assert_eq!(reads, result.totals.reads.count);
    let per_database = result
        .databases
        .iter()
        .map(|database| database.figures.reads.count as f64);
    for count in per_database {
        assert!((count / reads as f64 - 1.0 / 3.0).abs() < 0.01);
    }
    assert_eq!(result.phases[3].name, "measured");
    assert!(result.phases[3].started.starts_with("2025-03-01T12:00:"));
}

#[test]
fn only_what_is_built_is_called_a_build() {
    let mut plan = MailPlan::new(&profile(), 2);
    plan.run.reuse = true;
    let every: &[usize] = &[0, 1, 2];
    for (kept, built) in [(every, false), (&every[..2], true)] {
        let heard = Heard::default();
        let result = run_with(DISK, plan.clone(), kept, u64::MAX, heard.clone());
        let phases = heard.phases.borrow();
        assert_eq!(phases[0], Phase::Finding);
        assert_eq!(phases[1] == Phase::Building, built, "{phases:?}");
        assert_eq!(result.phases[0].name == "build", built);
        // One of three is built.
        let whole = plan.run.database_bytes;
        let last = heard.progress.borrow().first().copied();
        assert_eq!(
            last.is_some_and(|p| p.total_bytes == whole),
            built,
            "{last:?}"
        );
    }
}

#[test]
fn a_warm_up_waits_for_a_steady_load_where_asked_to() {
    let length_s = |until_steady| {
        let mut plan = MailPlan::new(&profile(), 2);
        plan.run.warm_up.until_steady = until_steady;
        let result = run_with(DISK, plan, &[], u64::MAX, Heard::default());
        let warm_up = result.phases.iter().find(|phase| phase.name == "warm-up");
        warm_up.unwrap().duration_s
    };
    let (full, steady) = (length_s(false), length_s(true));
    // Five rounds of a sixtieth of the measured minute, on a disk that always answers alike.
    assert!(steady >= 5.0 && full < 5.0, "{full} {steady}");
    assert!(steady < 20.0, "{steady}");
}

#[test]
fn the_fill_of_the_caches_is_that_at_the_beginning_of_the_measurement() {
    let mut plan = MailPlan::new(&profile(), 1);
    plan.run.warm_up.shortest = TimeSpan(0);
    plan.run.warm_up.longest = TimeSpan(500_000_000);
    let result = run_with(DISK, plan, &[], u64::MAX, Heard::default());
    let fill = result.throughput.cache_fill_fraction;
    assert!(fill > Some(0.1), "{fill:?}");
}

#[test]
fn a_warm_up_says_what_it_waits_for() {
    let mut profile = profile();
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(20));
    let heard = Heard::default();
    run_on(DISK, &profile, u64::MAX, heard.clone());
    let outlooks = heard.outlooks.borrow();
    assert!(outlooks.len() >= 18, "{outlooks:?}");
    let mentioned = |words: &str| {
        outlooks
            .iter()
            .any(|estimate| estimate.text.contains(words))
    };
    assert!(mentioned("% full") || mentioned("at least"), "{outlooks:?}");
    let left = outlooks.iter().map(|estimate| match estimate.remaining {
        Remaining::About(left) => left,
        Remaining::AtMost(_) => panic!("a warm-up ends when the caches are full"),
    });
    let left: Vec<_> = left.collect();
    assert!(left.iter().any(|left| !left.is_zero()), "{left:?}");
}

#[test]
fn two_runs_with_one_seed_are_identical() {
    let mut profile = profile();
    profile.run.held_rate = Some(300.0);
    let json = |profile: &MailProfile| serde_json::to_string(&run(profile)).unwrap();
    let first = json(&profile);
    assert_eq!(first, json(&profile));
    profile.run.seed = 2;
    assert_ne!(first, json(&profile));
}

#[test]
fn a_held_rate_is_held_and_lateness_is_counted() {
    let mut profile = profile();
    profile.run.held_rate = Some(600.0);
    let result = run(&profile);
    let achieved = result.throughput.achieved_iops;
    assert!((594.0..606.0).contains(&achieved), "{achieved}");
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
    for operation in &result.operations {
        let Some(service) = operation.service_time else {
            continue;
        };
        let from_due = operation.response_time.unwrap();
        assert!(
            from_due.average_ms >= service.average_ms - 1e-9,
            "{operation:?}"
        );
        assert!(from_due.p99_ms >= service.p99_ms, "{operation:?}");
    }
}

#[test]
fn a_rate_beyond_the_storage_fails_honestly() {
    let mut profile = profile();
    profile.mail.threads = Some(64);
    // 3 disks of 8 servers at 4 ms carry 6,000 requests a second, log writes included.
    profile.run.held_rate = Some(9_000.0);
    let result = run(&profile);
    assert_eq!(result.verdict, Verdict::Fail);
    assert!(result.throughput.achieved_iops < 6_000.0);
    assert!(
        result
            .warnings
            .iter()
            .any(|text| text.contains("never began")),
        "{:?}",
        result.warnings
    );
    let read = result
        .operations
        .iter()
        .find(|operation| operation.name == "read")
        .unwrap();
    let (service, from_due) = (read.service_time.unwrap(), read.response_time.unwrap());
    // Up to ten seconds of arrivals wait; the service itself takes milliseconds.
    assert!(
        from_due.average_ms > 5_000.0 && service.average_ms < 100.0,
        "{read:?}"
    );
}

#[test]
fn stopping_keeps_what_was_measured() {
    let heard = Heard {
        stop_after_samples: Some(6),
        ..Heard::default()
    };
    let result = run_on(DISK, &profile(), u64::MAX, heard);
    assert_eq!(
        (result.verdict, result.exit_status),
        (Verdict::Interrupted, 130)
    );
    assert_eq!((result.samples.count, result.complete), (6, true));
    assert!(
        (30.0..31.0).contains(&result.duration_s),
        "{}",
        result.duration_s
    );
}

#[test]
fn a_request_that_fails_again_and_again_is_one_error_of_its_database() {
    let result = run_on(DISK, &profile(), 30_000, Heard::default());
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    let error = &result.errors[0];
    assert_eq!(error.page, Some(7));
    assert!(error.file.starts_with("/simulated/mail-00") && error.error.contains("broken"));
    // The run goes on to its end.
    assert!(
        (59.9..60.1).contains(&result.duration_s),
        "{}",
        result.duration_s
    );
    assert_eq!(result.errors.len(), 3, "{:#?}", result.errors);
    assert!(
        result
            .errors
            .iter()
            .all(|error| error.times > 100 && !error.ended_run)
    );
    let databases = result.error_counts.iter();
    let databases: Vec<_> = databases.map(|one| one.database.as_str()).collect();
    assert_eq!(databases, ["mail-001", "mail-002", "mail-003"]);
}
