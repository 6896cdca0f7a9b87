//! A disk that takes longer for everything than its make does, for a while: a fail-slow disk.
//!
//! The model of the disk lives in a time of its own, which passes more slowly. Mechanics, queue and
//! buffers are what they are, and each of them takes so many times as long for whoever looks from
//! outside. The counters are kept in the time outside.

use rustc_hash::FxHashMap;

use super::{Disk, DiskCompletion, DiskCounters, DiskModel, DiskRequest, ServiceParts};
use crate::Direction;

/// A stretch of time in which a disk is so many times slower than its make.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// When the slow time begins, in ns of the run.
    from_ns: u64,
    /// The same moment in the time of the disk.
    own_ns: u64,
    factor: u64,
}

impl Stretch {
    fn own_of(&self, now_ns: u64) -> u64 {
        // Rounded down, so that no request is submitted after the completion that comes next.
        self.own_ns + (now_ns - self.from_ns) / self.factor
    }

    fn outside_of(&self, own_ns: u64) -> u64 {
        self.from_ns + (own_ns - self.own_ns) * self.factor
    }
}

/// What a disk needs that was slow at any time.
#[derive(Debug, Clone)]
struct Slowness {
    /// In the order of time; at least one.
    stretches: Vec<Stretch>,
    counters: DiskCounters,
    /// When each request that is inside was submitted. Those from before the first stretch are not
    /// here.
    submitted_ns: FxHashMap<u32, u64>,
}

impl Slowness {
    fn now(&self) -> &Stretch {
        &self.stretches[self.stretches.len() - 1]
    }

    /// A moment of the disk's time as it was outside.
    fn outside_of(&self, own_ns: u64) -> u64 {
        let mut stretches = self.stretches.iter().rev();
        let stretch = stretches.find(|stretch| stretch.own_ns <= own_ns);
        // Before the first stretch both times are the same.
        stretch.map_or(own_ns, |stretch| stretch.outside_of(own_ns))
    }

    /// Counts the request that has just left the disk, by what the disk has counted.
    fn count(&mut self, now_ns: u64, own_now_ns: u64, left: &Left) -> u64 {
        let before = own_now_ns - left.response_own_ns;
        let submitted_ns = self.submitted_ns.remove(&left.tag).unwrap_or(before);
        let started_ns = self.outside_of(left.started_own_ns);
        let started_ns = started_ns.clamp(submitted_ns, now_ns);
        let own_ns = left.service_own_ns.max(1) as f64;
        let factor = (now_ns - started_ns) as f64 / own_ns;
        let stretched = |part_ns: u64| (part_ns as f64 * factor) as u64;
        let request = DiskRequest {
            tag: left.tag,
            direction: left.direction,
            first_sector: 0,
            sectors: left.sectors,
        };
        let parts = ServiceParts {
            overhead_ns: stretched(left.parts.overhead_ns),
            seek_ns: stretched(left.parts.seek_ns),
            rotation_ns: stretched(left.parts.rotation_ns),
            transfer_ns: stretched(left.parts.transfer_ns),
        };
        self.counters
            .leave(now_ns, submitted_ns, started_ns, &request, parts);
        self.counters.buffer_hits += left.buffer_hits;
        started_ns
    }
}

/// A request that left a disk, by the disk's own counters and in its own time.
struct Left {
    tag: u32,
    direction: Direction,
    sectors: u32,
    started_own_ns: u64,
    response_own_ns: u64,
    service_own_ns: u64,
    parts: ServiceParts,
    buffer_hits: u64,
}

impl Left {
    fn new(done: DiskCompletion, before: &DiskCounters, after: &DiskCounters) -> Self {
        let direction = match after.reads > before.reads {
            true => Direction::Read,
            false => Direction::Write,
        };
        let sectors = after.read_sectors - before.read_sectors + after.written_sectors
            - before.written_sectors;
        let (earlier, later) = (&before.parts, &after.parts);
        Self {
            tag: done.tag,
            direction,
            sectors: sectors as u32,
            started_own_ns: done.started_ns,
            response_own_ns: after.response_ns - before.response_ns,
            service_own_ns: after.service_ns - before.service_ns,
            parts: ServiceParts {
                overhead_ns: later.overhead_ns - earlier.overhead_ns,
                seek_ns: later.seek_ns - earlier.seek_ns,
                rotation_ns: later.rotation_ns - earlier.rotation_ns,
                transfer_ns: later.transfer_ns - earlier.transfer_ns,
            },
            buffer_hits: after.buffer_hits - before.buffer_hits,
        }
    }
}

/// A disk whose speed can be changed.
#[derive(Debug, Clone)]
pub struct SlowableDisk {
    model: DiskModel,
    slowness: Option<Box<Slowness>>,
}

impl SlowableDisk {
    /// A disk at the speed of its make.
    pub(crate) fn new(model: DiskModel) -> Self {
        Self {
            model,
            slowness: None,
        }
    }

    /// Takes the credits for bursts from a cloud volume.
    pub(crate) fn spend_credits(&mut self, now_ns: u64) {
        let slowness = self.slowness.as_ref();
        let own_ns = slowness.map_or(now_ns, |slowness| slowness.now().own_of(now_ns));
        self.model.spend_credits(own_ns);
    }

    /// How many times as long everything takes as it does for the make.
    pub(crate) fn factor(&self) -> u32 {
        let slowness = self.slowness.as_ref();
        slowness.map_or(1, |slowness| slowness.now().factor as u32)
    }

    /// From now on everything takes `factor` times as long as it does for the make. A request in
    /// service takes so much longer for what is left of it.
    ///
    /// # Panics
    ///
    /// If the factor is 0.
    pub(crate) fn set_factor(&mut self, now_ns: u64, factor: u32) {
        assert!(factor > 0, "time does not stand still");
        let model = &self.model;
        let slowness = self.slowness.get_or_insert_with(|| {
            Box::new(Slowness {
                stretches: vec![Stretch {
                    from_ns: now_ns,
                    own_ns: now_ns,
                    factor: 1,
                }],
                counters: model.counters().clone(),
                submitted_ns: FxHashMap::default(),
            })
        });
        let own_ns = slowness.now().own_of(now_ns);
        slowness.stretches.push(Stretch {
            from_ns: now_ns,
            own_ns,
            factor: factor.into(),
        });
    }
}

impl Disk for SlowableDisk {
    #[inline]
    fn capacity_sectors(&self) -> u64 {
        self.model.capacity_sectors()
    }

    #[inline]
    fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        let Some(slowness) = &mut self.slowness else {
            self.model.submit(now_ns, request);
            return;
        };
        slowness.counters.arrive(now_ns);
        slowness.submitted_ns.insert(request.tag, now_ns);
        self.model.submit(slowness.now().own_of(now_ns), request);
    }

    #[inline]
    fn next_completion_ns(&self) -> Option<u64> {
        let own_ns = self.model.next_completion_ns()?;
        Some(match &self.slowness {
            None => own_ns,
            Some(slowness) => slowness.now().outside_of(own_ns),
        })
    }

    #[inline]
    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        let Some(slowness) = &mut self.slowness else {
            return self.model.complete(now_ns);
        };
        let own_now_ns = slowness.now().own_of(now_ns);
        let before = self.model.counters().clone();
        let done = self.model.complete(own_now_ns);
        let left = Left::new(done, &before, self.model.counters());
        let started_ns = slowness.count(now_ns, own_now_ns, &left);
        DiskCompletion { started_ns, ..done }
    }

    #[inline]
    fn queued(&self) -> usize {
        self.model.queued()
    }

    #[inline]
    fn on_board_queue_depth(&self) -> usize {
        self.model.on_board_queue_depth()
    }

    #[inline]
    fn counters(&self) -> &DiskCounters {
        match &self.slowness {
            None => self.model.counters(),
            Some(slowness) => &slowness.counters,
        }
    }
}
