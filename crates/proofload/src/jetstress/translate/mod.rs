//! From the elements of a configuration to the settings of a profile.

mod direct;
mod instances;
mod levels;
mod load;
mod test_design;

use execution::Error;

use super::command::Command;
use super::draft::Draft;
use super::elements::{Element, Elements};
use super::notes::Notes;
use super::scalar::{Scalar, shown};
use super::version::{self, Version};

/// A configuration on its way to a profile.
pub(super) struct Translation {
    pub elements: Elements,
    pub version: Version,
    /// Which Jetstress the file is of, and how that is known.
    pub version_found: String,
    pub draft: Draft,
    pub notes: Notes,
    pub command: Command,
}

/// Translates every element, and lists those that nothing here knows.
///
/// # Errors
/// A value that is none of its type, or an element that is there twice.
pub(super) fn translate(mut elements: Elements) -> Result<Translation, Error> {
    let found = version::take(&mut elements)?;
    let mut translation = Translation {
        elements,
        version: found.version,
        version_found: found.how,
        draft: Draft::new(found.version.profile()),
        notes: Notes::default(),
        command: Command::default(),
    };
    test_design::translate(&mut translation)?;
    load::translate(&mut translation)?;
    levels::translate(&mut translation)?;
    direct::translate(&mut translation)?;
    translation.list_unknown();
    Ok(translation)
}

impl Translation {
    /// Takes an element that one setting stands for.
    fn keep<T: Scalar>(
        &mut self,
        path: &str,
        setting: &str,
        value: impl Fn(T) -> String,
    ) -> Result<(), Error> {
        if let Some((given, element)) = self.elements.take_as::<T>(path)? {
            self.set(setting, &value(given), &element);
        }
        Ok(())
    }

    /// Gives a setting the value that an element asks for.
    fn set(&mut self, setting: &str, value: &str, element: &Element) {
        self.draft.set(setting, value, element.described());
        self.notes
            .keep(element.described(), format!("{setting} = {value}"));
    }

    /// Gives a setting another value than the element has, for a reason.
    fn change(&mut self, setting: &str, value: &str, element: &Element, reason: &str) {
        self.draft
            .set(setting, value, format!("{}: {reason}", element.described()));
        self.notes.change(
            element.described(),
            format!("{setting} = {value}, as {reason}"),
        );
    }

    /// Says that an element has no effect.
    fn refuse(&mut self, element: &Element, reason: &str) {
        self.notes.refuse(element.described(), reason);
    }

    /// Elements that nothing here knows; of very many the first.
    fn list_unknown(&mut self) {
        const MOST: usize = 20;
        self.notes.empty = self.elements.empty().to_vec();
        let left = self.elements.left().iter();
        let left: Vec<&Element> = left.filter(|one| !one.value.is_empty()).collect();
        for element in left.iter().take(MOST) {
            let path = shown(&element.path);
            let value = shown(&element.value);
            self.notes.refuse(format!("{path} {value}"), "not known");
        }
        if left.len() > MOST {
            let more = left.len() - MOST;
            self.notes
                .refuse(format!("{more} further elements"), "not known");
        }
    }
}
