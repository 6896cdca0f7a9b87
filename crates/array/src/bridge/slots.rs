//! Requests under way, in slots that are used again: in steady state nothing is allocated.

use std::task::Waker;

use crate::HostError;

/// What became of a request: the contents of a read, or nothing.
pub(super) type Outcome<P> = Result<P, HostError>;

enum State<P> {
    Free,
    /// Submitted; the waker of whoever waits, once it has been polled.
    Waiting(Option<Waker>),
    /// Completed and not taken yet.
    Done(Outcome<P>),
    /// Nobody waits any more; the slot becomes free at the completion.
    Abandoned,
}

/// All requests of a host.
pub(super) struct Slots<P> {
    states: Vec<State<P>>,
    free: Vec<u32>,
}

impl<P> Slots<P> {
    pub(super) fn new() -> Self {
        Self {
            states: Vec::new(),
            free: Vec::new(),
        }
    }

    /// A slot for a request about to be submitted.
    pub(super) fn open(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.states[slot as usize] = State::Waiting(None);
            return slot;
        }
        self.states.push(State::Waiting(None));
        (self.states.len() - 1) as u32
    }

    /// Notes the end of a request; whoever waits is to be woken when nothing is borrowed any more.
    pub(super) fn complete(&mut self, slot: u32, outcome: Outcome<P>) -> Option<Waker> {
        let state = &mut self.states[slot as usize];
        match std::mem::replace(state, State::Done(outcome)) {
            State::Waiting(waker) => waker,
            State::Abandoned => {
                self.release(slot);
                None
            }
            State::Free | State::Done(_) => panic!("request {slot} ends once"),
        }
    }

    /// The outcome, if the request has ended; otherwise `waker` will be woken then.
    pub(super) fn poll(&mut self, slot: u32, waker: &Waker) -> Option<Outcome<P>> {
        match &mut self.states[slot as usize] {
            State::Waiting(Some(known)) if known.will_wake(waker) => None,
            State::Waiting(known) => {
                *known = Some(waker.clone());
                None
            }
            state @ State::Done(_) => {
                let State::Done(outcome) = std::mem::replace(state, State::Free) else {
                    unreachable!("the state was looked at a moment ago");
                };
                self.free.push(slot);
                Some(outcome)
            }
            State::Free | State::Abandoned => panic!("request {slot} has an owner"),
        }
    }

    /// Nobody waits for the request any more.
    pub(super) fn abandon(&mut self, slot: u32) {
        match self.states[slot as usize] {
            State::Waiting(_) => self.states[slot as usize] = State::Abandoned,
            State::Done(_) => self.release(slot),
            State::Free | State::Abandoned => panic!("request {slot} is abandoned once"),
        }
    }

    fn release(&mut self, slot: u32) {
        self.states[slot as usize] = State::Free;
        self.free.push(slot);
    }

    /// Requests under way or not fetched.
    pub(super) fn in_use(&self) -> usize {
        self.states.len() - self.free.len()
    }
}
