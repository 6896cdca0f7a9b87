//! Holding a rate of I/O: how many operations per second it takes.
//!
//! One operation of the workload causes a number of database reads and writes that depends on the
//! cache. Reads are counted within the operation, and there are fewer of them from second to second
//! while a cache fills, so they are followed closely; writes come long after the operation that
//! caused them, and only a long average shows how many belong to it. So the controller divides the
//! wanted I/O rate by the sum of two smoothed numbers of I/Os per operation, and adds a small
//! correction for what the measured phase is behind (or ahead of) in total, which makes the mean over
//! the phase exact.

/// The time over which writes per operation are averaged, and the longest for reads, in seconds.
const SMOOTHING_S: f64 = 30.0;
/// The shortest time over which reads per operation are averaged, in seconds.
const FOLLOWING_S: f64 = 4.0;
/// So many I/Os of the wanted rate make an average of reads that chance moves by few percent.
const FOLLOWING_IOS: f64 = 1000.0;
/// The time over which a shortfall is made good, in seconds.
const RECOVERY_S: f64 = 5.0;
/// The most that the correction may add or take away.
const CORRECTION: f64 = 0.25;

/// What was counted over an interval, all databases together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// Database reads that ended.
    pub reads: u64,
    /// Database writes that ended.
    pub writes: u64,
    /// Operations of the workload that ended.
    pub operations: u64,
}

/// I/Os of one kind for each operation, smoothed over a time.
#[derive(Debug, Clone)]
struct PerOperation {
    smoothing_s: f64,
    ios: f64,
    operations: f64,
}

impl PerOperation {
    /// A guess of `ios` for so many `operations` that the first counts soon outweigh.
    fn new(smoothing_s: f64, ios: f64, operations: f64) -> Self {
        Self {
            smoothing_s,
            ios,
            operations,
        }
    }

    fn update(&mut self, length_s: f64, ios: u64, operations: u64) {
        let keep = (-length_s / self.smoothing_s).exp();
        self.ios = self.ios * keep + ios as f64;
        self.operations = self.operations * keep + operations as f64;
    }

    fn value(&self) -> f64 {
        self.ios / self.operations
    }
}

/// Turns a wanted I/O rate into a rate of operations.
#[derive(Debug, Clone)]
pub struct RateController {
    target_iops: f64,
    reads: PerOperation,
    writes: PerOperation,
    shortfall: f64,
}

impl RateController {
    /// A controller that begins with the guess `ios_per_operation`, half of them reads.
    #[must_use]
    pub fn new(target_iops: f64, ios_per_operation: f64) -> Self {
        assert!(target_iops > 0.0 && ios_per_operation > 0.0);
        let following_s = (FOLLOWING_IOS / target_iops).clamp(FOLLOWING_S, SMOOTHING_S);
        // The guess weighs as much as one second of work at the wanted rate.
        let operations = target_iops / ios_per_operation;
        Self {
            target_iops,
            reads: PerOperation::new(following_s, target_iops / 2.0, operations),
            writes: PerOperation::new(SMOOTHING_S, target_iops / 2.0, operations),
            shortfall: 0.0,
        }
    }

    /// A controller that knows how many reads and writes an operation causes, as one that has held the rate
    /// for long: a burst of writes, as after a recovery, moves it little.
    #[must_use]
    pub fn knowing(target_iops: f64, reads: f64, writes: f64) -> Self {
        let mut controller = Self::new(target_iops, reads + writes);
        let operations_per_s = target_iops / (reads + writes);
        for (kind, per_operation) in [
            (&mut controller.reads, reads),
            (&mut controller.writes, writes),
        ] {
            kind.operations = operations_per_s * kind.smoothing_s;
            kind.ios = kind.operations * per_operation;
        }
        controller
    }

    /// The rate that is to be held, in IOPS.
    #[must_use]
    pub fn target_iops(&self) -> f64 {
        self.target_iops
    }

    /// Holds another rate from now on, with what is known of the I/Os per operation.
    pub fn set_target(&mut self, target_iops: f64) {
        assert!(target_iops > 0.0);
        if target_iops != self.target_iops {
            self.target_iops = target_iops;
            self.shortfall = 0.0;
        }
    }

    /// Forgets what was missed so far; call it when the measured phase begins.
    pub fn forget_shortfall(&mut self) {
        self.shortfall = 0.0;
    }

    /// Database reads and writes that one operation causes, as measured lately.
    #[must_use]
    pub fn ios_per_operation(&self) -> f64 {
        self.reads.value() + self.writes.value()
    }

    /// Takes an interval's counts into account; gives the operations per second from now on.
    pub fn update(&mut self, counted: Counted) -> f64 {
        let Counted {
            length_s,
            reads,
            writes,
            operations,
        } = counted;
        self.reads.update(length_s, reads, operations);
        self.writes.update(length_s, writes, operations);
        // Storage that cannot follow leaves a shortfall without end; more than the correction can
        // make good within its time is not carried along.
        let most = self.target_iops * CORRECTION * RECOVERY_S;
        let missed = self.target_iops * length_s - (reads + writes) as f64;
        self.shortfall = (self.shortfall + missed).clamp(-most, most);
        self.operations_per_second()
    }

    /// The operations per second that hold the rate.
    #[must_use]
    pub fn operations_per_second(&self) -> f64 {
        let corrected = self.target_iops + self.shortfall / RECOVERY_S;
        // Fewer than one I/O in a hundred operations is a cache that holds everything: no rate of
        // operations would reach the rate of I/O.
        corrected / self.ios_per_operation().max(0.01)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    /// A storage whose writes come `lag` seconds after their operations, one per operation, beside
    /// `reads` reads per operation.
    struct Lagging {
        reads: f64,
        lag: usize,
        done: Vec<f64>,
        rng: SeededRng,
    }

    impl Lagging {
        fn mean_iops(&mut self, controller: &mut RateController, seconds: usize) -> f64 {
            let mut total = 0.0;
            for _ in 0..seconds {
                let operations = controller.operations_per_second().round();
                self.done.push(operations);
                let causing = self.done.len().checked_sub(1 + self.lag);
                let writes = causing.map_or(0.0, |second| self.done[second]);
                let chance = 0.95 + 0.1 * self.rng.unit();
                let (reads, writes) = (operations * self.reads * chance, writes * chance);
                total += reads + writes;
                controller.update(Counted {
                    length_s: 1.0,
                    reads: reads as u64,
                    writes: writes as u64,
                    operations: operations as u64,
                });
            }
            total / seconds as f64
        }
    }

    #[test]
    fn what_is_known_is_moved_little_by_a_burst_of_writes() {
        let burst = Counted {
            length_s: 0.25,
            reads: 25,
            writes: 500,
            operations: 50,
        };
        let after = |mut controller: RateController| controller.update(burst);
        let knowing = RateController::knowing(200.0, 0.5, 0.5);
        assert_eq!(knowing.operations_per_second(), 200.0);
        let knowing = after(knowing);
        assert!(knowing > 120.0, "{knowing}");
        assert!(after(RateController::new(200.0, 1.0)) < 60.0);
    }

    #[test]
    fn the_mean_is_held_within_one_percent_even_when_writes_lag() {
        for (reads, lag) in [(1.3, 0), (1.3, 20), (1.0, 40), (3.0, 5)] {
            let mut controller = RateController::new(1000.0, 2.0);
            let rng = SeededRng::new(1, 1);
            let mut storage = Lagging {
                reads,
                lag,
                done: Vec::new(),
                rng,
            };
            storage.mean_iops(&mut controller, 180);
            controller.forget_shortfall();
            let mean = storage.mean_iops(&mut controller, 300);
            assert!((990.0..1010.0).contains(&mean), "{mean} for {reads} {lag}");
        }
    }

    #[test]
    fn the_rate_is_held_while_a_cache_takes_more_and_more_reads() {
        let mut controller = RateController::new(1000.0, 1.5);
        for second in -60..120 {
            // Three reads an operation become a half within a minute; each operation writes once.
            let reads_each = 0.5 + 2.5 * (-f64::from(second.max(0)) / 10.0).exp();
            let operations = controller.operations_per_second();
            let (reads, writes) = (operations * reads_each, operations);
            let ios = reads + writes;
            let is_held = (880.0..1050.0).contains(&ios);
            assert!(second < 0 || is_held, "{ios:.0} in second {second}");
            controller.update(Counted {
                length_s: 1.0,
                reads: reads as u64,
                writes: writes as u64,
                operations: operations as u64,
            });
        }
    }

    #[test]
    fn a_storage_that_cannot_follow_is_not_flooded() {
        let mut controller = RateController::new(1000.0, 2.0);
        let mut rate = 0.0;
        for _ in 0..1000 {
            rate = controller.update(Counted {
                length_s: 1.0,
                reads: 60,
                writes: 40,
                operations: 50,
            });
        }
        assert!((500.0..=625.1).contains(&rate), "{rate}");
    }
}
