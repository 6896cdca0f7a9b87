//! Every rule against an obvious implementation of the paper it comes from.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, VecDeque};

use super::{AnyReplacement, Replacement};
use crate::pool::settings::ReplacementName;

/// A cache that only knows which lines it holds.
trait Reference {
    fn holds(&self, line: u32) -> bool;
    fn hit(&mut self, line: u32);
    fn insert(&mut self, line: u32) -> Option<u32>;
    fn remove(&mut self, line: u32);
}

/// Takes `line` out of a queue; says whether it was there.
fn take(queue: &mut VecDeque<u32>, line: u32) -> bool {
    let place = queue.iter().position(|&other| other == line);
    place.and_then(|place| queue.remove(place)).is_some()
}

/// Least recently used, written plainly; the newest line is in front.
struct SlowLru {
    capacity: usize,
    lines: VecDeque<u32>,
}

impl Reference for SlowLru {
    fn holds(&self, line: u32) -> bool {
        self.lines.contains(&line)
    }

    fn hit(&mut self, line: u32) {
        take(&mut self.lines, line);
        self.lines.push_front(line);
    }

    fn insert(&mut self, line: u32) -> Option<u32> {
        let full = self.lines.len() == self.capacity;
        let evicted = if full { self.lines.pop_back() } else { None };
        self.lines.push_front(line);
        evicted
    }

    fn remove(&mut self, line: u32) {
        take(&mut self.lines, line);
    }
}

/// All uses of every line, and the order in which lines left.
struct SlowLru2 {
    capacity: usize,
    now: u32,
    lines: BTreeMap<u32, (u32, u32)>,
    left: VecDeque<(u32, u32)>,
}

impl Reference for SlowLru2 {
    fn holds(&self, line: u32) -> bool {
        self.lines.contains_key(&line)
    }

    fn hit(&mut self, line: u32) {
        self.now += 1;
        let (last, _) = self.lines[&line];
        self.lines.insert(line, (self.now, last));
    }

    fn insert(&mut self, line: u32) -> Option<u32> {
        self.now += 1;
        let known = self.left.iter().position(|&(other, _)| other == line);
        let before = known.and_then(|place| self.left.remove(place));
        let mut evicted = None;
        if self.lines.len() == self.capacity {
            let oldest = self
                .lines
                .iter()
                .min_by_key(|&(_, &(last, before))| (before, last));
            let (&old, &(last, _)) = oldest.expect("the cache is full");
            self.lines.remove(&old);
            self.left.push_front((old, last));
            self.left.truncate(self.capacity);
            evicted = Some(old);
        }
        let before = before.map_or(0, |(_, last)| last);
        self.lines.insert(line, (self.now, before));
        evicted
    }

    fn remove(&mut self, line: u32) {
        self.lines.remove(&line);
    }
}

/// Figure 4 of the paper, newest first in every list.
#[derive(Default)]
struct SlowArc {
    capacity: usize,
    target: usize,
    t1: VecDeque<u32>,
    t2: VecDeque<u32>,
    b1: VecDeque<u32>,
    b2: VecDeque<u32>,
}

impl SlowArc {
    fn replace(&mut self, found_in_b2: bool) -> Option<u32> {
        if self.t1.len() + self.t2.len() < self.capacity {
            return None;
        }
        let length = self.t1.len();
        let prefers_t1 = length > self.target || (found_in_b2 && length == self.target);
        if (length >= 1 && prefers_t1) || self.t2.is_empty() {
            let line = self.t1.pop_back()?;
            self.b1.push_front(line);
            Some(line)
        } else {
            let line = self.t2.pop_back()?;
            self.b2.push_front(line);
            Some(line)
        }
    }
}

impl Reference for SlowArc {
    fn holds(&self, line: u32) -> bool {
        self.t1.contains(&line) || self.t2.contains(&line)
    }

    fn hit(&mut self, line: u32) {
        let _ = take(&mut self.t1, line) || take(&mut self.t2, line);
        self.t2.push_front(line);
    }

    fn insert(&mut self, line: u32) -> Option<u32> {
        let (b1, b2) = (self.b1.len(), self.b2.len());
        if self.b1.contains(&line) {
            self.target = (self.target + (b2 / b1).max(1)).min(self.capacity);
            let evicted = self.replace(false);
            take(&mut self.b1, line);
            self.t2.push_front(line);
            return evicted;
        }
        if self.b2.contains(&line) {
            self.target = self.target.saturating_sub((b1 / b2).max(1));
            let evicted = self.replace(true);
            take(&mut self.b2, line);
            self.t2.push_front(line);
            return evicted;
        }
        let mut evicted = None;
        let all = self.t1.len() + self.t2.len() + b1 + b2;
        if self.t1.len() + b1 == self.capacity {
            if self.t1.len() < self.capacity {
                self.b1.pop_back();
                evicted = self.replace(false);
            } else {
                evicted = self.t1.pop_back();
            }
        } else {
            if all == 2 * self.capacity {
                self.b2.pop_back();
            }
            evicted = evicted.or(self.replace(false));
        }
        self.t1.push_front(line);
        evicted
    }

    fn remove(&mut self, line: u32) {
        let _ = take(&mut self.t1, line) || take(&mut self.t2, line);
    }
}

/// The queues of the paper, newest first.
struct SlowS3Fifo {
    capacity: usize,
    small: VecDeque<u32>,
    main: VecDeque<u32>,
    ghosts: VecDeque<Option<u32>>,
    uses: BTreeMap<u32, u32>,
}

impl SlowS3Fifo {
    fn small_target(&self) -> usize {
        (self.capacity / 10).max(1)
    }

    fn evict(&mut self) -> u32 {
        loop {
            if self.small.len() >= self.small_target() || self.main.is_empty() {
                let line = self.small.pop_back().expect("something is in the cache");
                if self.uses[&line] > 1 {
                    self.uses.insert(line, 0);
                    self.main.push_front(line);
                    continue;
                }
                self.ghosts.push_front(Some(line));
                self.ghosts.truncate(self.capacity - self.small_target());
                return line;
            }
            let line = self.main.pop_back().expect("the main queue is not empty");
            if self.uses[&line] == 0 {
                return line;
            }
            *self.uses.get_mut(&line).expect("it is in the cache") -= 1;
            self.main.push_front(line);
        }
    }
}

impl Reference for SlowS3Fifo {
    fn holds(&self, line: u32) -> bool {
        self.small.contains(&line) || self.main.contains(&line)
    }

    fn hit(&mut self, line: u32) {
        let uses = self.uses.get_mut(&line).expect("it is in the cache");
        *uses = (*uses + 1).min(3);
    }

    fn insert(&mut self, line: u32) -> Option<u32> {
        let ghost = self.ghosts.iter().position(|&ghost| ghost == Some(line));
        if let Some(place) = ghost {
            self.ghosts[place] = None;
        }
        let full = self.small.len() + self.main.len() == self.capacity;
        let evicted = full.then(|| self.evict());
        self.uses.insert(line, 0);
        let queue = if ghost.is_some() {
            &mut self.main
        } else {
            &mut self.small
        };
        queue.push_front(line);
        evicted
    }

    fn remove(&mut self, line: u32) {
        let _ = take(&mut self.small, line) || take(&mut self.main, line);
    }
}

fn reference(name: ReplacementName, capacity: usize) -> Box<dyn Reference> {
    match name {
        ReplacementName::Lru => Box::new(SlowLru {
            capacity,
            lines: VecDeque::new(),
        }),
        ReplacementName::Lru2 => Box::new(SlowLru2 {
            capacity,
            now: 0,
            lines: BTreeMap::new(),
            left: VecDeque::new(),
        }),
        ReplacementName::Arc => Box::new(SlowArc {
            capacity,
            ..SlowArc::default()
        }),
        ReplacementName::S3Fifo => Box::new(SlowS3Fifo {
            capacity,
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghosts: VecDeque::new(),
            uses: BTreeMap::new(),
        }),
    }
}

const NAMES: [ReplacementName; 4] = [
    ReplacementName::Lru,
    ReplacementName::Lru2,
    ReplacementName::Arc,
    ReplacementName::S3Fifo,
];

/// Runs one seed: the same lines hit, miss and leave in both, and slots are never shared.
fn compare(name: ReplacementName, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let capacity = random.random_range(1..40_u32);
    let lines = capacity * random.random_range(1..5) + 1;
    let removals = random.random_range(0..3) * 4;
    let mut rule = AnyReplacement::new(name, capacity);
    let mut slow = reference(name, capacity as usize);
    let mut slots = BTreeMap::new();
    for step in 0..400 {
        let place = format!("{name:?}, seed {seed}, step {step}");
        // Squaring a share makes low lines hotter.
        let share: f64 = random.random();
        let line = (share * share * f64::from(lines)) as u32;
        assert_eq!(rule.find(line).is_some(), slow.holds(line), "{place}");
        if random.random_range(0..100) < removals {
            assert_eq!(rule.remove(line), slots.remove(&line), "{place}");
            slow.remove(line);
        } else if rule.find(line).is_some() {
            assert_eq!(rule.find(line), slots.get(&line).copied(), "{place}");
            rule.hit(line);
            slow.hit(line);
        } else {
            let inserted = rule.insert(line);
            assert_eq!(inserted.evicted, slow.insert(line), "{place}");
            if let Some(evicted) = inserted.evicted {
                assert_eq!(slots.remove(&evicted), Some(inserted.slot), "{place}");
            }
            assert!(inserted.slot < capacity, "{place}");
            assert!(
                !slots.values().any(|&slot| slot == inserted.slot),
                "{place}"
            );
            slots.insert(line, inserted.slot);
        }
        assert_eq!(rule.len() as usize, slots.len(), "{place}");
    }
    rule.clear();
    assert_eq!((rule.len(), rule.find(0)), (0, None));
}

#[test]
fn every_rule_keeps_the_lines_its_paper_says() {
    for name in NAMES {
        for seed in 0..400 {
            compare(name, seed);
        }
    }
}

#[test]
fn a_scan_does_not_drive_out_what_is_used_again_and_again() {
    let hits_after_scan = |name| {
        let mut rule = AnyReplacement::new(name, 100);
        let mut use_line = |line| {
            let hit = rule.find(line).is_some();
            if hit {
                rule.hit(line);
            } else {
                rule.insert(line);
            }
            hit
        };
        for round in 0..20 {
            for line in 0..50 {
                use_line(line);
            }
            for line in 0..20 {
                use_line(10_000 + round * 20 + line);
            }
        }
        for line in 0..300 {
            use_line(1_000 + line);
        }
        (0..50).filter(|&line| use_line(line)).count()
    };
    assert_eq!(hits_after_scan(ReplacementName::Lru), 0);
    for name in [
        ReplacementName::Lru2,
        ReplacementName::Arc,
        ReplacementName::S3Fifo,
    ] {
        assert_eq!(hits_after_scan(name), 50, "{name:?}");
    }
}
