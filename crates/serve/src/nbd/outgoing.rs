//! Replies on their way to a client.
//!
//! The thread of the model sends a reply itself as long as the socket has room, which saves the way to another
//! thread. It never waits: what there is no room for is left to the writer of the connection.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use array::payload::Bytes;
use rustix::net::Shutdown;

use super::budget::Permit;
use super::socket::{Socket, Waits};

/// Replies that the writer sends with one call.
const MOST_AT_ONCE: usize = 64;

/// A reply, or what is left of it.
pub(super) struct Message {
    head: Vec<u8>,
    data: Bytes,
    /// The part of the data that was asked for ends here.
    data_end: usize,
    head_sent: usize,
    /// Where the rest of the data begins.
    data_at: usize,
    /// Given back when the reply is sent.
    _permit: Permit,
}

impl Message {
    pub fn new(head: Vec<u8>, permit: Permit) -> Self {
        Self::with_data(head, Bytes::default(), (0, 0), permit)
    }

    /// With the bytes of the data that begin at `skipped`.
    pub fn with_data(
        head: Vec<u8>,
        data: Bytes,
        (skipped, length): (usize, usize),
        permit: Permit,
    ) -> Self {
        Self {
            head,
            data,
            data_end: skipped + length,
            head_sent: 0,
            data_at: skipped,
            _permit: permit,
        }
    }

    fn parts(&self) -> [IoSlice<'_>; 2] {
        let data = &self.data.as_slice()[self.data_at..self.data_end];
        [
            IoSlice::new(&self.head[self.head_sent..]),
            IoSlice::new(data),
        ]
    }

    /// Notes that bytes were sent; returns how many of them were of later messages.
    fn note_sent(&mut self, bytes: usize) -> usize {
        let of_head = bytes.min(self.head.len() - self.head_sent);
        let of_data = (bytes - of_head).min(self.data_end - self.data_at);
        self.head_sent += of_head;
        self.data_at += of_data;
        bytes - of_head - of_data
    }

    fn is_sent(&self) -> bool {
        self.head_sent == self.head.len() && self.data_at == self.data_end
    }
}

#[derive(Default)]
struct State {
    queue: VecDeque<Message>,
    /// Whether the writer has messages that are not in the queue any more.
    is_writing: bool,
    ends: bool,
}

/// The way of replies to a client.
pub(super) struct Outgoing {
    socket: Arc<Socket>,
    state: Mutex<State>,
    /// Whether the client is gone; changed by who has the state.
    is_broken: AtomicBool,
    changed: Condvar,
}

impl Outgoing {
    pub fn new(socket: Arc<Socket>) -> Self {
        Self {
            socket,
            state: Mutex::default(),
            is_broken: AtomicBool::new(false),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a reply or leaves it to the writer; never waits for the client.
    pub fn send(&self, mut message: Message) {
        let mut state = self.lock();
        if self.is_broken() {
            return;
        }
        if state.queue.is_empty() && !state.is_writing {
            match self.socket.send(&message.parts(), Waits::No) {
                Ok(bytes) => {
                    message.note_sent(bytes);
                    if message.is_sent() {
                        return;
                    }
                }
                Err(error) if is_worth_another(&error) => {}
                Err(_) => return self.give_up(&mut state),
            }
        }
        state.queue.push_back(message);
        drop(state);
        self.changed.notify_one();
    }

    /// The client is gone: its requests end, and nothing is sent any more.
    fn give_up(&self, state: &mut State) {
        self.is_broken.store(true, Ordering::Relaxed);
        state.queue.clear();
        self.socket.shut_down(Shutdown::Both);
    }

    /// Sends what does not fit into the socket at once, until the end.
    pub fn write(&self) {
        loop {
            let idle =
                |state: &mut State| state.queue.is_empty() && !state.ends && !self.is_broken();
            let waited = self.changed.wait_while(self.lock(), idle);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            if state.queue.is_empty() {
                return;
            }
            let messages = std::mem::take(&mut state.queue);
            state.is_writing = true;
            drop(state);
            let sent = self.send_all(messages);
            let mut state = self.lock();
            state.is_writing = false;
            if sent.is_err() {
                return self.give_up(&mut state);
            }
        }
    }

    fn send_all(&self, mut messages: VecDeque<Message>) -> io::Result<()> {
        while !messages.is_empty() {
            let some = messages.iter().take(MOST_AT_ONCE);
            let parts: Vec<IoSlice<'_>> = some.flat_map(Message::parts).collect();
            let mut bytes = match self.socket.send(&parts, Waits::Yes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => bytes,
                Err(error) if is_worth_another(&error) => 0,
                Err(error) => return Err(error),
            };
            while let Some(first) = messages.front_mut() {
                bytes = first.note_sent(bytes);
                if !first.is_sent() {
                    break;
                }
                messages.pop_front();
            }
        }
        Ok(())
    }

    /// Whether the client is gone.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Nothing more comes: lets the writer end when it has sent all.
    pub fn end(&self) {
        self.lock().ends = true;
        self.changed.notify_one();
    }
}

fn is_worth_another(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
