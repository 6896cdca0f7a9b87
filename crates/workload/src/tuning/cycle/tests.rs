use measure::sample::DatabaseMeters;

use super::*;

fn settings() -> CycleSettings {
    CycleSettings {
        transient_samples: 10,
        stable_samples: 20,
        settled_slope_ms: 0.5,
        settle_limit_s: 60.0,
        levels: ServiceLevels::default(),
        planned_s: 3600.0,
        judged_sample_s: 4.0,
        steady: SteadyRule::default(),
        layout: Arc::new(Layout::new(["a", "b"], ["read"])),
    }
}

/// A second in which each database makes 100 reads and 50 log writes of 1 ms.
fn sample(layout: &Layout, read_ms: [f64; 2]) -> TuningSample {
    let mut meters = DatabaseMeters::for_layout(layout);
    let mut databases = Vec::new();
    for (meters, ms) in meters.iter_mut().zip(read_ms) {
        for _ in 0..100 {
            let latency_ns = (ms * 1e6) as u64;
            let read = meters.stream_mut(Stream::DatabaseRead);
            read.latency.record(latency_ns);
        }
        for _ in 0..50 {
            let log = meters.stream_mut(Stream::LogWrite);
            log.latency.record(1_000_000);
        }
        databases.push(DatabaseLatency {
            reads: 100,
            read_total_ms: ms * 100.0,
            log_writes: 50,
            log_write_total_ms: 50.0,
        });
    }
    TuningSample {
        length_s: 1.0,
        ios: 200,
        databases,
        meters,
    }
}

fn run_at(asked_iops: Option<f64>, latency: impl Fn(f64) -> [f64; 2]) -> (usize, CycleOutcome) {
    run_with(settings(), asked_iops, latency)
}

fn run_with(
    settings: CycleSettings,
    asked_iops: Option<f64>,
    latency: impl Fn(f64) -> [f64; 2],
) -> (usize, CycleOutcome) {
    let layout = Arc::clone(&settings.layout);
    let mut cycle = Cycle::new(settings, asked_iops);
    for number in 0.. {
        if let Some(judged) = cycle.take(&sample(&layout, latency(number as f64))) {
            return (number + 1, judged);
        }
    }
    unreachable!()
}

fn run(latency: impl Fn(f64) -> [f64; 2]) -> (usize, CycleOutcome) {
    run_at(None, latency)
}

#[test]
fn a_steady_load_is_judged_by_its_worst_database() {
    let (samples, judged) = run(|_| [4.0, 15.0]);
    assert_eq!((samples, judged.steady, judged.kept), (30, true, true));
    assert_eq!((judged.achieved_iops, judged.judged_s), (200.0, 20.0));
    assert!((judged.database_read_ms.unwrap() - 15.0).abs() < 0.1);
    assert!(!judged.comfortable, "15 of 20 ms");
    let (_, judged) = run(|_| [4.0, 25.0]);
    assert!(judged.steady && !judged.kept && judged.finding.contains("of b is 25.0 ms"));
    assert_eq!(judged.missed, Some(CheckId::DatabaseReadAverage));
    let (_, judged) = run(|_| [4.0, 4.0]);
    assert!(judged.kept && judged.comfortable);
}

#[test]
fn every_level_is_judged() {
    // One second of four is slow: 15 ms on average, and no part of the window above 100 ms.
    let (_, judged) = run(|n| [4.0, if n % 4.0 == 0.0 { 48.0 } else { 4.0 }]);
    assert_eq!((judged.kept, judged.missed), (true, None));
    // The average is kept, and one part of the window is above 15 ms.
    let mut settings = settings();
    settings.levels.maximum_database_read_strict_ms = 15.0;
    let (_, judged) = run_with(settings, None, |n| {
        let is_slow = (14.0..18.0).contains(&n);
        [1.0, if is_slow { 18.0 } else { 1.0 }]
    });
    assert_eq!(judged.missed, Some(CheckId::DatabaseReadMax), "{judged:?}");
}

#[test]
fn a_rate_that_is_not_carried_does_not_keep_the_levels() {
    let (_, judged) = run_at(Some(205.0), |_| [4.0, 4.0]);
    assert_eq!((judged.kept, judged.missed), (true, None));
    assert!(judged.comfortable);
    let (_, judged) = run_at(Some(240.0), |_| [4.0, 4.0]);
    assert_eq!(judged.missed, Some(CheckId::AchievedIops));
    assert!(!judged.comfortable, "whatever the latencies are");
    assert!(judged.finding.contains("(required 211 IOPS)"), "{judged:?}");
}

/// A search that took it for too much would go down, and end far below what the storage carries.
#[test]
fn a_low_rate_that_is_missed_by_chance_is_carried() {
    let judged_at = |asked_iops: f64, reads: usize| {
        let settings = settings();
        let layout = Arc::clone(&settings.layout);
        let mut cycle = Cycle::new(settings, Some(asked_iops));
        loop {
            let mut meters = DatabaseMeters::for_layout(&layout);
            for _ in 0..reads {
                let read = meters[0].stream_mut(Stream::DatabaseRead);
                read.latency.record(1_000_000);
            }
            let judged = cycle.take(&TuningSample {
                length_s: 1.0,
                ios: reads as u64,
                databases: vec![DatabaseLatency::default(); 2],
                meters,
            });
            if let Some(judged) = judged {
                return judged.kept;
            }
        }
    };
    // 200 to 220 I/Os in the 20 s of the window, or in three of them; a tenth less is chance, a half is not.
    assert!(judged_at(11.0, 10));
    assert!(!judged_at(20.0, 10));
    // Of 20,000 it is not.
    assert!(!judged_at(1_100.0, 1_000));
}

#[test]
fn a_rise_is_waited_for_and_a_fall_is_not_held_against_it() {
    // Rises by 1 ms per sample until sample 15, then stays.
    let (samples, judged) = run(|n| [1.0, n.min(15.0)]);
    assert!(samples > 35 && judged.steady && judged.kept, "{samples}");
    let (samples, _) = run(|n| [1.0, (60.0 - n).max(50.0)]);
    assert_eq!(samples, 30);
}

#[test]
fn a_window_that_is_not_steady_is_looked_at_again() {
    // Too slow a rise for the slope rule, until it ends in the second window.
    let (samples, judged) = run(|n| [8.0 + 0.3 * n.min(30.0); 2]);
    assert_eq!((samples, judged.steady, judged.kept), (50, true, true));
    let (samples, judged) = run(|n| [if n % 12.0 < 6.0 { 9.0 } else { 18.0 }; 2]);
    assert_eq!((samples, judged.steady, judged.kept), (74, false, true));
}

#[test]
fn a_latency_that_rises_for_ever_fails_at_the_limit() {
    let (samples, judged) = run(|n| [n, 1.0]);
    assert_eq!((samples, judged.steady, judged.kept), (60, false, false));
    assert_eq!(judged.missed, None);
}
