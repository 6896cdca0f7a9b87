//! What became of each element of a configuration.

use std::fmt::{self, Write};

/// One element, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The element with its value.
    pub element: String,
    /// The setting that it became, or why it became none.
    pub outcome: String,
}

/// What was kept, what was changed and what is of no use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Elements that mean the same here.
    pub kept: Vec<Note>,
    /// Elements that became something else, with the reason.
    pub changed: Vec<Note>,
    /// Elements without an effect, with the reason.
    pub unusable: Vec<Note>,
    /// Elements that are empty: the profile that is extended decides.
    pub empty: Vec<String>,
}

impl Notes {
    pub(super) fn keep(&mut self, element: String, outcome: impl Into<String>) {
        self.kept.push(note(element, outcome));
    }

    pub(super) fn change(&mut self, element: String, outcome: impl Into<String>) {
        self.changed.push(note(element, outcome));
    }

    pub(super) fn refuse(&mut self, element: String, outcome: impl Into<String>) {
        self.unusable.push(note(element, outcome));
    }
}

fn note(element: String, outcome: impl Into<String>) -> Note {
    Note {
        element,
        outcome: outcome.into(),
    }
}

impl fmt::Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let lists = [
            ("Kept", &self.kept),
            ("Changed", &self.changed),
            ("Unusable", &self.unusable),
        ];
        for (head, notes) in lists {
            writeln!(
                text,
                "{head} ({}){}",
                notes.len(),
                if notes.is_empty() { "" } else { ":" }
            )?;
            for note in notes {
                writeln!(text, "  {}: {}", note.element, note.outcome)?;
            }
        }
        if !self.empty.is_empty() {
            writeln!(
                text,
                "Empty ({}), so the profile that is extended decides:\n  {}",
                self.empty.len(),
                self.empty.join(", ")
            )?;
        }
        f.write_str(&text)
    }
}
