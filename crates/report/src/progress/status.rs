//! One line about how far something is.

use proofload::Event;

/// What a status line shows after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// How far it is; takes the place of the line before.
    Line {
        /// The line.
        text: String,
        /// When it is printed where lines stay.
        due: Due,
    },
    /// A line that stays.
    Note(String),
}

/// When a line is printed where it cannot take the place of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// When some time has passed since the last one.
    Later,
    /// Never: what comes next says it.
    Never,
}

/// Makes a status line of events.
pub trait StatusSource {
    /// What is shown after the event; `None` if it changes nothing.
    fn after(&mut self, event: Event<'_>) -> Option<Status>;
}
