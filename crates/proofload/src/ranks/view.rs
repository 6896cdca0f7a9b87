//! What is shown of a run on several ranks: the sums of all, by rank 0.

use std::sync::{Arc, Mutex};

use ::ranks::{Early, Peers};
use execution::events::{Event, Observer};
use workload::progress::LiveSample;

use super::figures::Figures;
use super::outcome::{Whole, lock, silent_ranks};
use super::{decoded, encoded};
use measure::units;

/// The topic of remarks.
const NOTE: &str = "note";

/// The observer of the run of this rank. `shown` is that of rank 0.
pub fn of_rank(
    peers: Arc<Peers>,
    whole: Option<Arc<Mutex<Whole>>>,
    shown: Box<dyn Observer>,
) -> Box<dyn Observer> {
    let own = Figures::default();
    match whole {
        Some(whole) => Box::new(FirstView {
            peers,
            whole,
            shown,
            own,
            has_named_early: false,
        }),
        None => Box::new(OtherView { peers, own }),
    }
}

/// Of a rank other than 0: it says its figures to rank 0, and shows nothing.
struct OtherView {
    peers: Arc<Peers>,
    own: Figures,
}

impl Observer for OtherView {
    fn event(&mut self, event: Event<'_>) {
        match event {
            // Where the run of all ends, each of them says so.
            Event::Note(_) if self.peers.early().is_some() => {}
            Event::Note(text) | Event::Warning(text) => {
                self.peers.send(0, NOTE, text.as_bytes().to_vec());
            }
            other => {
                if note(&mut self.own, &other) {
                    self.peers.set_state(encoded(&self.own));
                }
            }
        }
    }
}

/// Of rank 0: it shows the figures of all.
struct FirstView {
    peers: Arc<Peers>,
    whole: Arc<Mutex<Whole>>,
    shown: Box<dyn Observer>,
    own: Figures,
    has_named_early: bool,
}

impl Observer for FirstView {
    fn event(&mut self, event: Event<'_>) {
        if note(&mut self.own, &event) {
            self.peers.set_state(encoded(&self.own));
            lock(&self.whole).write_interim(&self.peers);
        }
        self.pass_on_notes();
        self.name_early();
        match event {
            Event::Live(figures) => {
                let figures = self.sum(figures);
                self.shown.event(Event::Live(&figures));
            }
            Event::Sample {
                sample,
                figures,
                interval_s,
            } => {
                let figures = &self.sum(figures);
                self.shown.event(Event::Sample {
                    sample,
                    figures,
                    interval_s,
                });
            }
            other => self.shown.event(other),
        }
    }
}

impl FirstView {
    fn pass_on_notes(&mut self) {
        let hosts = self.peers.hosts();
        while let Some((rank, text)) = self.peers.try_receive_any(NOTE) {
            let text = String::from_utf8_lossy(&text);
            let text = format!("Rank {rank} on {}: {text}", hosts[rank]);
            self.shown.event(Event::Note(&text));
        }
    }

    /// Says which rank has ended the run of all.
    fn name_early(&mut self) {
        if self.has_named_early {
            return;
        }
        let Some(early) = self.peers.early() else {
            return;
        };
        self.has_named_early = true;
        let silent = silent_ranks(&self.peers);
        if let Some(text) = of_early(&early, &self.peers.hosts(), &silent) {
            self.shown.event(Event::Warning(&text));
        }
    }

    /// The figures of rank 0 with those that the others have said last.
    fn sum(&self, own: &LiveSample) -> LiveSample {
        let states = self.peers.states();
        let others = states.iter().skip(1);
        let others = others.filter_map(|state| decoded::<Figures>(Some(state)));
        others.fold(own.clone(), |mut sum, other| {
            sum.iops += other.iops;
            sum.target_iops = match (sum.target_iops, other.target_iops) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
            let worse = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
            sum.database_read_ms = worse(sum.database_read_ms, other.database_read_ms);
            sum.log_write_ms = worse(sum.log_write_ms, other.log_write_ms);
            sum.sessions.count += other.sessions;
            for level in other.failing {
                if !sum.failing.contains(&level) {
                    sum.failing.push(level);
                }
            }
            sum
        })
    }
}

/// Which rank has ended the run of all, and which are silent: a launcher that has lost a process asks all others
/// to end, and one of these is then the first to say so. `None` when rank 0 ends it by itself.
fn of_early(early: &Early, hosts: &[String], silent: &[usize]) -> Option<String> {
    let name = |rank: usize| format!("rank {rank} on {}", hosts[rank]);
    let ended = (early.rank > 0).then(|| {
        let name = units::sentence(&name(early.rank));
        format!("{name} ends the run of all: {}", early.why)
    });
    let silent: Vec<String> = silent
        .iter()
        .filter(|rank| **rank != early.rank)
        .map(|rank| name(*rank))
        .collect();
    let lost = (!silent.is_empty()).then(|| {
        format!(
            "Nothing is heard any more of {}: a launcher that has lost a process asks the others to end.",
            silent.join(", ")
        )
    });
    let parts: Vec<String> = ended.into_iter().chain(lost).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Takes over what an event says of the figures of this rank; whether it says something.
fn note(own: &mut Figures, event: &Event<'_>) -> bool {
    match event {
        Event::PhaseBegan { phase, .. } => {
            *own = Figures {
                phase: phase.title().to_owned(),
                ..Figures::default()
            };
        }
        Event::Live(figures) | Event::Sample { figures, .. } => {
            *own = Figures {
                phase: std::mem::take(&mut own.phase),
                iops: figures.iops,
                target_iops: figures.target_iops,
                database_read_ms: figures.database_read_ms,
                log_write_ms: figures.log_write_ms,
                sessions: figures.sessions.count,
                failing: figures.failing.clone(),
            };
        }
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_is_silent_is_named_with_the_one_that_was_asked_to_end() {
        let hosts = ["a", "b", "c"].map(str::to_owned);
        let early = |rank| Early {
            rank,
            why: "it ended early, while measuring.".to_owned(),
        };
        assert_eq!(of_early(&early(0), &hosts, &[]), None);
        let alone = of_early(&early(2), &hosts, &[2]);
        assert_eq!(
            alone.as_deref(),
            Some("Rank 2 on c ends the run of all: it ended early, while measuring.")
        );
        for by in [0, 2] {
            let text = of_early(&early(by), &hosts, &[1]).expect("a rank is lost");
            assert_eq!(text.contains("Rank 2 on c ends"), by == 2, "{text}");
            assert!(
                text.contains("Nothing is heard any more of rank 1 on b:"),
                "{text}"
            );
        }
    }
}
