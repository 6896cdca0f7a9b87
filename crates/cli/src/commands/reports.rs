//! The report page of each prediction of a sweep or a study, written as soon as it is done.

use std::cell::RefCell;
use std::rc::Rc;

use proofload::{Event, Observer};

use super::outcome::no_report;
use crate::error::CommandError;

/// Writes pages while predictions go on, and keeps the first error.
#[derive(Default)]
pub struct Reports(Rc<RefCell<Option<CommandError>>>);

impl Reports {
    /// An observer that writes pages and passes every event on to `view`.
    pub fn write_with(&self, mut view: impl Observer + 'static) -> Box<dyn Observer> {
        let first_problem = Rc::clone(&self.0);
        Box::new(move |event: Event<'_>| {
            let done = match event {
                Event::PointDone { directory, .. } => directory,
                Event::CaseDone { directory, .. } => Some(directory),
                _ => None,
            };
            if let Some(directory) = done
                && let Err(error) = report::write_report(directory)
            {
                first_problem.borrow_mut().get_or_insert(no_report(&error));
            }
            view.event(event);
        })
    }

    /// Whether every page was written.
    ///
    /// # Errors
    /// The first page that was not.
    pub fn written(self) -> Result<(), CommandError> {
        self.0.take().map_or(Ok(()), Err)
    }
}
