//! Faults of settings with their lines.

use config::ConfigError;
use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, NamedSource, Report};

/// The faults of settings as text for a terminal, each with its line. Names stay whole at the ends of lines, so
/// that they can be copied.
#[must_use]
pub fn terminal_faults(error: &ConfigError) -> Vec<String> {
    let at_blanks = miette::set_hook(Box::new(|_| {
        let options = MietteHandlerOpts::new()
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        Box::new(options.build())
    }));
    // Whoever set one before has done the same.
    drop(at_blanks);
    let faults = located(error).into_iter();
    faults
        .map(|fault| format!("{:?}", Report::new(fault)))
        .collect()
}

/// Something wrong with settings, in the form that shows its line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Fault {
    message: String,
    help: Option<String>,
    source_text: Option<NamedSource<String>>,
    span: Option<(usize, usize)>,
}

impl Diagnostic for Fault {
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

fn located(error: &ConfigError) -> Vec<Fault> {
    let diagnostics = error.diagnostics.iter();
    diagnostics
        .map(|diagnostic| {
            let place = error.place_of(diagnostic);
            Fault {
                message: diagnostic.message.clone(),
                help: diagnostic.help.clone(),
                span: place.as_ref().map(|(_, span)| (span.start, span.len())),
                source_text: place
                    .map(|(source, _)| NamedSource::new(&source.name, source.text.clone())),
            }
        })
        .collect()
}
