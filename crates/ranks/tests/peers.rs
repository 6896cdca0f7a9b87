//! Ranks that are threads of this process: what they agree on, and what becomes of one that dies.

use std::thread;
use std::time::{Duration, Instant};

use ranks::{Heartbeats, InProcess, JoinError, Peers, Transport, TransportError};

const TIMEOUT: Duration = Duration::from_millis(600);

/// Runs `work` on so many ranks, each a thread; gives what they return, by rank.
fn on_ranks<R: Send + 'static>(
    size: usize,
    work: impl Fn(Peers) -> R + Send + Clone + 'static,
) -> Vec<R> {
    let started = InProcess::connected(size).into_iter().map(|transport| {
        let work = work.clone();
        thread::spawn(move || work(join(transport).expect("the ranks are connected")))
    });
    let threads: Vec<_> = started.collect();
    let ended = threads.into_iter().map(thread::JoinHandle::join);
    ended.map(|ended| ended.expect("a rank")).collect()
}

fn join<T: Transport + Send + 'static>(transport: T) -> Result<Peers, JoinError> {
    let host = format!("host-{}", transport.rank());
    let heartbeats = Heartbeats { timeout: TIMEOUT };
    Peers::join(host, heartbeats, || Ok(transport))
}

#[test]
fn messages_reach_the_rank_they_are_for() {
    let heard = on_ranks(4, |peers| {
        let gathered = peers.gather("square", vec![peers.rank() as u8; peers.rank()]);
        let answer = peers.from_first("sum", || {
            let lengths = gathered.iter().flatten().map(Vec::len);
            vec![lengths.sum::<usize>() as u8]
        });
        let heard = (peers.hosts(), answer.expect("rank 0 is there"));
        peers.leave();
        heard
    });
    let hosts: Vec<_> = (0..4).map(|rank| format!("host-{rank}")).collect();
    assert!(heard.iter().all(|one| *one == (hosts.clone(), vec![6])));
}

#[test]
fn a_point_is_passed_by_all_at_one_moment() {
    let passed = on_ranks(3, |peers| {
        // The others wait for the last one.
        thread::sleep(Duration::from_millis(60 * peers.rank() as u64));
        let came_ns = peers.now_of_first_ns();
        while !peers.may_pass("measure") {
            thread::sleep(Duration::from_millis(10));
        }
        let passed_ns = peers.now_of_first_ns();
        peers.leave();
        (came_ns, passed_ns)
    });
    let last_came = passed.iter().map(|one| one.0).max();
    assert!(
        passed.iter().all(|one| Some(one.1) >= last_came),
        "{passed:?}"
    );
}

/// The last of three ranks is silent after its first messages, as one whose process was killed.
#[test]
fn a_rank_that_dies_is_named_by_all_others() {
    let ranks = InProcess::connected(3).into_iter().map(|inner| {
        thread::spawn(move || {
            let dies = inner.rank() == 2;
            let left = if dies { 40 } else { usize::MAX };
            let peers = join(Mute { inner, left }).expect("the ranks are connected");
            let began = Instant::now();
            while peers.early().is_none() && began.elapsed() < Duration::from_secs(20) {
                // The dying rank uses up the messages that it may send.
                peers.send(0, "figures", Vec::new());
                thread::sleep(Duration::from_millis(10));
            }
            let found = (peers.early(), peers.lost());
            peers.leave();
            (!dies).then_some(found)
        })
    });
    let threads: Vec<_> = ranks.collect();
    let found = threads.into_iter().map(|one| one.join().expect("a rank"));
    for (early, lost) in found.flatten() {
        let early = early.expect("the loss is known");
        assert_eq!((early.rank, lost.len(), lost[0].rank), (2, 1, 2));
        let text = lost[0].to_string();
        assert!(
            text.starts_with("Rank 2 on host-2 is lost: nothing was heard"),
            "{text}"
        );
    }
}

/// Its question about the time does not arrive, and rank 0 goes without having answered.
#[test]
fn a_rank_whose_clock_is_not_compared_goes_on() {
    let ranks = InProcess::connected(2).into_iter().map(|inner| {
        thread::spawn(move || {
            let left = if inner.rank() == 1 { 1 } else { usize::MAX };
            let peers = join(Mute { inner, left }).expect("the ranks are connected");
            let offset = peers.offset();
            peers.leave();
            offset.uncertainty_ns
        })
    });
    let threads: Vec<_> = ranks.collect();
    let ended = threads.into_iter().map(|one| one.join().expect("a rank"));
    assert_eq!(ended.collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn a_rank_that_ends_before_the_others_is_named_and_not_lost() {
    let found = on_ranks(3, |peers| {
        if peers.rank() == 1 {
            peers.end_early("its disk is full.");
        }
        while peers.early().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        let found = (peers.early(), peers.lost().len());
        peers.leave();
        found
    });
    for (early, lost) in found {
        let early = early.expect("it is known");
        assert_eq!(
            (early.rank, early.why.as_str(), lost),
            (1, "its disk is full.", 0)
        );
    }
}

/// A carrier that is silent from its first use of `receive` after some messages.
struct Mute {
    inner: InProcess,
    left: usize,
}

impl Transport for Mute {
    fn rank(&self) -> usize {
        self.inner.rank()
    }
    fn size(&self) -> usize {
        self.inner.size()
    }
    fn library(&self) -> String {
        self.inner.library()
    }
    fn send(&mut self, to: usize, frame: Vec<u8>) -> Result<(), TransportError> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        self.inner.send(to, frame)
    }
    fn sending(&mut self) -> Result<usize, TransportError> {
        self.inner.sending()
    }
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, TransportError> {
        self.inner.receive()
    }
    fn finish(&mut self) -> Result<(), TransportError> {
        self.inner.finish()
    }
}
