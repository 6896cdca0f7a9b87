//! Ranks that are threads of one process: for tests.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::transport::{Transport, TransportError};

type Frame = (usize, Vec<u8>);

/// One of several ranks in this process.
pub struct InProcess {
    rank: usize,
    peers: Vec<Sender<Frame>>,
    arrived: Receiver<Frame>,
}

impl InProcess {
    /// So many ranks that are connected with each other. One that is dropped is a rank that died.
    #[must_use]
    pub fn connected(size: usize) -> Vec<Self> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
        let rank = |(rank, arrived)| Self {
            rank,
            peers: senders.clone(),
            arrived,
        };
        receivers.into_iter().enumerate().map(rank).collect()
    }
}

impl Transport for InProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.peers.len()
    }

    fn library(&self) -> String {
        "threads of one process".to_owned()
    }

    fn send(&mut self, to: usize, frame: Vec<u8>) -> Result<(), TransportError> {
        // A rank that has gone hears nothing, as over a network.
        let _ = self.peers[to].send((self.rank, frame));
        Ok(())
    }

    fn sending(&mut self) -> Result<usize, TransportError> {
        Ok(0)
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, TransportError> {
        Ok(self.arrived.try_recv().ok())
    }

    fn finish(&mut self) -> Result<(), TransportError> {
        Ok(())
    }
}
