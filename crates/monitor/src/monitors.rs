//! The observer that feeds everything that was asked for.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use measure::result::{RunResult, Verdict};
use proofload::{Error, Event, Observer};
use report::progress::LinesView;

use crate::metrics::Figures;
use crate::metrics::server::{self, Server};
use crate::record::{Body, SCHEMA};
use crate::status::RunStatus;
use crate::status_file::StatusFile;
use crate::stream::EventStream;
use crate::view::LiveView;
use crate::view::screen::{self, Whose};

/// What is wanted of a run while it lasts.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A file for the events as NDJSON.
    pub events: Option<PathBuf>,
    /// Where the figures are served.
    pub metrics: Option<String>,
    /// A view over the whole terminal.
    pub live: bool,
    /// Whether the state is kept in the run directory, so that a view can be opened elsewhere.
    pub keeps_status: bool,
}

impl Wanted {
    /// Checks that everything that is wanted can be had. Creates nothing.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(address) = &self.metrics {
            server::listen(address)?;
        }
        if let Some(path) = &self.events {
            EventStream::check(path)?;
        }
        match self.live {
            true => LiveView::check(),
            false => Ok(()),
        }
    }
}

/// What a run is about.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Version of the program.
    pub version: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// The storage, or the modelled array.
    pub storage: &'a str,
}

/// Everything that was asked for, opened. Dropped, it ends: the terminal is as it was before.
pub struct Monitors(Rc<RefCell<Open>>);

struct Open {
    stream: Option<EventStream>,
    metrics: Option<(Server, Figures)>,
    status: Arc<Mutex<RunStatus>>,
    status_file: Option<StatusFile>,
    keeps_status: bool,
    view: Option<LiveView>,
}

impl Monitors {
    /// Opens what was asked for.
    ///
    /// # Errors
    /// A file, a port or a terminal that cannot be had.
    pub fn open(wanted: &Wanted, about: About<'_>) -> Result<Self, Error> {
        let (version, workload, storage) = (about.version, about.workload, about.storage);
        let server = wanted.metrics.as_deref().map(Server::open).transpose()?;
        let metrics = server.map(|server| {
            let figures = Figures::new(version, workload, storage);
            server.put(figures.text());
            (server, figures)
        });
        let mut stream = wanted
            .events
            .as_deref()
            .map(EventStream::open)
            .transpose()?;
        if let Some(stream) = &mut stream {
            stream.send(Body::Start {
                schema: SCHEMA,
                version,
                workload,
                storage,
            });
        }
        let status = RunStatus::new(version, workload, storage);
        let status = Arc::new(Mutex::new(status));
        let view = match wanted.live {
            true => {
                let shown = Arc::clone(&status);
                Some(LiveView::start(move |size| {
                    let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    screen::lines(&shown.clone(), size, Whose::Own)
                })?)
            }
            false => None,
        };
        Ok(Self(Rc::new(RefCell::new(Open {
            stream,
            metrics,
            status,
            status_file: None,
            keeps_status: wanted.keeps_status,
            view,
        }))))
    }

    /// Where the figures are served, if they are.
    #[must_use]
    pub fn metrics_url(&self) -> Option<String> {
        let open = self.0.borrow();
        open.metrics.as_ref().map(|(server, _)| server.url())
    }

    /// An observer that passes every event on to `progress`; where there is a view of the whole terminal,
    /// to plain lines in its place, which are shown when the view is left.
    #[must_use]
    pub fn observer(&self, progress: impl FnOnce() -> Box<dyn Observer>) -> Box<dyn Observer> {
        let open = Rc::clone(&self.0);
        let lines = open.borrow().view.as_ref().map(LiveView::lines);
        let mut progress: Box<dyn Observer> = match lines {
            Some(lines) => Box::new(LinesView::new(lines, false)),
            None => progress(),
        };
        Box::new(move |event: Event<'_>| {
            let trouble = open.borrow_mut().take_in(event);
            progress.event(event);
            if let Some(text) = trouble {
                progress.event(Event::Warning(&text));
            }
        })
    }

    /// Ends with the result of the run. What could not be written is returned as a sentence.
    pub fn finish(self, result: &RunResult) -> Option<String> {
        self.end(Body::end(result))
    }

    /// Ends with the verdict over many predictions, and their answer as a sentence.
    pub fn finish_points(self, verdict: Verdict, answer: &str) -> Option<String> {
        self.end(Body::End {
            verdict,
            exit_status: verdict.exit_status(),
            headline: answer,
            reason: "",
        })
    }

    /// Ends without a result.
    pub fn fail(self, error: &Error) -> Option<String> {
        let error = error.to_string();
        self.end(Body::Failed { error: &error })
    }

    fn end(self, last: Body<'_>) -> Option<String> {
        let mut open = self.0.borrow_mut();
        open.view = None;
        open.metrics = None;
        open.status_file = None;
        let stream = open.stream.take()?;
        stream.finish(last)
    }
}

impl Open {
    fn take_in(&mut self, event: Event<'_>) -> Option<String> {
        let body = self.stream.as_ref().and_then(|_| Body::of(event));
        let trouble = match (&mut self.stream, body) {
            (Some(stream), Some(body)) => stream.send(body),
            _ => None,
        };
        if let Some((server, figures)) = &mut self.metrics
            && figures.take_in(event)
        {
            server.put(figures.text());
        }
        if self.keeps_status || self.view.is_some() {
            self.keep_status(event);
        }
        trouble
    }

    fn keep_status(&mut self, event: Event<'_>) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.take_in(event);
        if let (Event::Directory(directory), true) = (event, self.keeps_status) {
            // Nobody can look at a run whose directory takes no more files; it goes on all the same.
            self.status_file = StatusFile::create(directory, status.clone()).ok();
        } else if let Some(file) = &self.status_file {
            file.put(status.clone());
        }
    }
}
