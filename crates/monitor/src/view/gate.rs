//! Lines that wait while a view has the terminal.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that wait at most; older lines are left out, as they are in `log.txt`.
const MOST_BYTES: usize = 64 << 10;

/// Standard error, which may be closed for a while. Clones are the same.
#[derive(Clone)]
pub struct Lines(Arc<Mutex<State>>);

struct State {
    waiting: VecDeque<u8>,
    is_open: bool,
}

impl Lines {
    /// What is written waits until [`Self::open`].
    #[must_use]
    pub fn closed() -> Self {
        Self(Arc::new(Mutex::new(State {
            waiting: VecDeque::new(),
            is_open: false,
        })))
    }

    /// Writes what has waited; from now on everything is written at once.
    pub fn open(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_open = true;
        let waiting = std::mem::take(&mut state.waiting);
        // Progress that nobody takes is lost, and the run goes on.
        let _ = io::stderr().write_all(&Vec::from(waiting));
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_open {
            return io::stderr().write(bytes);
        }
        state.waiting.extend(bytes);
        while state.waiting.len() > MOST_BYTES {
            let line = state.waiting.iter().position(|byte| *byte == b'\n');
            let all = state.waiting.len();
            state.waiting.drain(..line.map_or(all, |line| line + 1));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_wait_whole() {
        let mut lines = Lines::closed();
        for number in 0..20_000 {
            writeln!(lines, "line {number}").unwrap();
        }
        let state = lines.0.lock().unwrap();
        let waiting: Vec<u8> = state.waiting.iter().copied().collect();
        let text = String::from_utf8(waiting).unwrap();
        assert!(text.len() <= MOST_BYTES && text.len() > MOST_BYTES / 2);
        assert!(text.starts_with("line ") && text.ends_with("line 19999\n"));
    }
}
