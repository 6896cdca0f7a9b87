//! What carries messages between ranks.

/// The carrier refused something; the text says what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransportError(pub String);

/// Carries messages between the processes of a run. No call waits for another rank.
pub trait Transport {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn size(&self) -> usize;

    /// Name and version of the carrier, for people.
    fn library(&self) -> String;

    /// Begins to send a message.
    ///
    /// # Errors
    /// When the carrier refuses it.
    fn send(&mut self, to: usize, frame: Vec<u8>) -> Result<(), TransportError>;

    /// Messages that are still being sent.
    ///
    /// # Errors
    /// When one of them could not be sent.
    fn sending(&mut self) -> Result<usize, TransportError>;

    /// A message that has arrived, with the rank that sent it. Those of one rank come in their order.
    ///
    /// # Errors
    /// When the carrier fails.
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, TransportError>;

    /// Ends the use of the carrier. Not called after a rank was lost: it might wait for that rank.
    ///
    /// # Errors
    /// When the carrier fails.
    fn finish(&mut self) -> Result<(), TransportError>;
}
