//! What ends a command before its work is done, and how it is told.

use std::io;

use array::description::DescriptionError;
use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, NamedSource, Report};
use thiserror::Error;
use workload::profile::LoadError;

use crate::exit::ExitStatus;

/// Why a command ended without doing its work. Every text is a whole sentence with the remedy.
#[derive(Debug, Error)]
pub enum Failure {
    /// What was typed is wrong.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What would be right.
        help: String,
    },
    /// The surroundings do not allow it.
    #[error("{message}")]
    Environment {
        /// What is in the way.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// Data is damaged, or storage failed.
    #[error("{message}")]
    Integrity {
        /// What was found.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// A profile or a `--set` is wrong.
    #[error(transparent)]
    Profile(#[from] LoadError),
    /// The description of an array is wrong.
    #[error(transparent)]
    Array(#[from] DescriptionError),
    /// One point of a sweep is wrong.
    #[error("{name}: {failure}")]
    Point {
        /// Name of the point.
        name: String,
        /// What is wrong with it.
        failure: Box<Failure>,
    },
    /// The reader of our output has gone, which is its right.
    #[error("the reader of the output has gone")]
    OutputClosed,
}

impl Failure {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Surroundings that do not allow the run.
    pub fn environment(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Environment {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Damaged data or failing storage.
    pub fn integrity(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Integrity {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Something that is wrong at one point of a sweep. A point without a name needs none.
    pub fn at_point(name: String, failure: Self) -> Self {
        if name.is_empty() {
            return failure;
        }
        let failure = Box::new(failure);
        Self::Point { name, failure }
    }

    /// A failed write to standard output.
    pub fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        Self::environment(
            format!("The output could not be written: {error}."),
            "Check where standard output goes to.",
        )
    }

    /// How the program ends after this.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::Usage { .. } | Self::Profile(_) | Self::Array(_) => ExitStatus::Usage,
            Self::Environment { .. } => ExitStatus::Environment,
            Self::Point { failure, .. } => failure.status(),
            Self::Integrity { .. } => ExitStatus::Integrity,
            // A pager that was closed, or `| head`, is not an error.
            Self::OutputClosed => ExitStatus::Pass,
        }
    }

    /// Tells the user on standard error. Nobody is left to hear of an error in doing so.
    pub fn tell(&self) {
        match self {
            Self::OutputClosed => {}
            Self::Point { name, failure } => {
                tell!("proofload: the point {name} cannot be predicted; nothing was computed.");
                failure.tell();
            }
            Self::Profile(error) => tell_at_lines(told_faults(error)),
            Self::Array(error) => tell_at_lines(told_array_faults(error)),
            Self::Usage { message, help }
            | Self::Environment { message, help }
            | Self::Integrity { message, help } => {
                tell!("proofload: {message}");
                if !help.is_empty() {
                    tell!("{help}");
                }
            }
        }
    }
}

/// Tells faults, each with its line. Names stay whole at the ends of lines, so that they can be
/// copied.
fn tell_at_lines(faults: Vec<ToldFault>) {
    let at_blanks = miette::set_hook(Box::new(|_| {
        let options = MietteHandlerOpts::new()
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        Box::new(options.build())
    }));
    // Whoever set one before has done the same.
    drop(at_blanks);
    for fault in faults {
        tell!("{:?}", Report::new(fault));
    }
}

/// One fault of a profile, in the form that shows its line.
#[derive(Debug, Error)]
#[error("{message}")]
struct ToldFault {
    message: String,
    help: Option<String>,
    source_text: Option<NamedSource<String>>,
    span: Option<(usize, usize)>,
}

impl Diagnostic for ToldFault {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        let text = self.source_text.as_ref()?;
        Some(text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.span?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}

fn told_faults(error: &LoadError) -> Vec<ToldFault> {
    let faults = error.faults.iter();
    faults
        .map(|fault| {
            let place = fault.place.as_ref();
            ToldFault {
                message: fault.message.clone(),
                help: fault.help.clone(),
                source_text: place.map(|(layer, _)| {
                    let layer = &error.layers[*layer];
                    NamedSource::new(&layer.name, layer.text.clone())
                }),
                span: place.map(|(_, span)| (span.start, span.len())),
            }
        })
        .collect()
}

fn told_array_faults(error: &DescriptionError) -> Vec<ToldFault> {
    let faults = error.faults.iter();
    faults
        .map(|fault| {
            let place = fault.place.as_ref();
            ToldFault {
                message: fault.message.clone(),
                help: fault.help.clone(),
                source_text: place.map(|place| {
                    let source = &error.sources[place.source];
                    NamedSource::new(&source.name, source.text.clone())
                }),
                span: place.map(|place| (place.span.start, place.span.len())),
            }
        })
        .collect()
}
