//! From bytes to the elements of a `JetstressConfig.xml`.
//!
//! The file comes from elsewhere, so nothing is taken for granted: sizes, numbers and depths have limits, document
//! type definitions (and with them entities) are refused, and so is what is not UTF-8 or no character of XML.

use config::ByteSize;
use execution::Error;
use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::elements::{Element, Elements, GROUP_MARK};
use super::encoding::{self, forbidden, is_permitted, line_at};
use super::scalar::shown;

/// A larger file is no configuration of Jetstress: that of a hundred databases has some 40 KiB.
pub const LARGEST_FILE_BYTES: u64 = 4 << 20;

/// Elements that a file may have: each of a thousand databases has some five.
const MOST_ELEMENTS: usize = 20_000;

/// Elements that lie in each other: those of Jetstress are six deep.
const DEEPEST: usize = 16;

/// Attributes of one element.
const MOST_ATTRIBUTES: usize = 16;

/// Bytes in the name of an element.
const LONGEST_NAME: usize = 64;

/// The outermost element of a configuration.
const ROOT: &str = "configuration";

/// The sections of a configuration.
const SECTIONS: [&str; 3] = ["TestDesignInfo", "ExchangeProfile", "JetSystemParams"];

/// Elements that may come several times, each with values of its own.
const GROUPS: [&str; 2] = ["EseInstance", "Thresholds"];

const AS_WRITTEN: &str = "Take the file as Jetstress has written it.";

/// The elements of the configuration in `bytes`.
///
/// # Errors
/// It is too large, no text, no XML, or no configuration of Jetstress.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Elements, Error> {
    let text = text_of(name, bytes)?;
    let mut walk = Walk {
        name,
        whole: text,
        open: Vec::new(),
        found: Vec::new(),
        has_root: false,
    };
    let mut reader = Reader::from_str(text);
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader
            .read_event()
            .map_err(|error| walk.invalid(&error.to_string(), at))?;
        match event {
            Event::Start(start) => walk.enter(&start, at)?,
            Event::Empty(start) => {
                walk.enter(&start, at)?;
                walk.leave();
            }
            Event::End(_) => walk.leave(),
            Event::Text(text) => walk.text(&text.xml10_content()),
            Event::CData(text) => walk.text(&text.xml10_content()),
            Event::GeneralRef(reference) => walk.reference(&reference, at)?,
            Event::DocType(_) => return Err(walk.has_dtd()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    if !walk.open.is_empty() {
        return Err(walk.invalid("it ends before its last element does", text.len()));
    }
    let is_section = |section: &&str| walk.found.iter().any(|one| one.path.starts_with(*section));
    if !SECTIONS.iter().any(is_section) {
        return Err(Error::usage(
            format!("{name} is no configuration of Jetstress: it has none of its sections."),
            format!("It needs <{}>.", SECTIONS.join(">, <")),
        ));
    }
    Ok(Elements::new(name, text, walk.found))
}

/// The text in the bytes of a file.
fn text_of<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    if bytes.len() as u64 > LARGEST_FILE_BYTES {
        let limit = ByteSize(LARGEST_FILE_BYTES);
        return Err(Error::usage(
            format!("{name} is larger than {limit}, which no configuration of Jetstress is."),
            AS_WRITTEN,
        ));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(Error::usage(format!("{name} is empty."), AS_WRITTEN));
    }
    encoding::text_of(name, bytes)
}

/// An element whose end has not come yet.
struct Open {
    /// Path below the root; empty for the root itself.
    path: String,
    text: String,
    at: usize,
    has_more: bool,
}

/// The elements on the way through a file.
struct Walk<'a> {
    name: &'a str,
    /// The whole file.
    whole: &'a str,
    open: Vec<Open>,
    found: Vec<Element>,
    has_root: bool,
}

impl Walk<'_> {
    fn enter(&mut self, start: &BytesStart<'_>, at: usize) -> Result<(), Error> {
        let local = start.local_name();
        let own = local.as_ref();
        if self.open.is_empty() {
            if self.has_root || own != ROOT {
                return Err(self.not_a_configuration(own));
            }
            self.has_root = true;
        }
        if self.open.len() >= DEEPEST {
            return Err(self.too_much(&format!("elements more than {DEEPEST} deep")));
        }
        if own.len() > LONGEST_NAME {
            return Err(self.too_much("an element of a very long name"));
        }
        if self.found.len() >= MOST_ELEMENTS {
            return Err(self.too_much(&format!("more than {MOST_ELEMENTS} elements")));
        }
        let path = match self.open.last_mut() {
            None => String::new(),
            Some(above) => {
                above.has_more = true;
                join(&above.path, own)
            }
        };
        if GROUPS.contains(&own) {
            self.found.push(Element {
                path: format!("{path}{GROUP_MARK}"),
                value: String::new(),
                at,
            });
        }
        let has_attributes = self.attributes(start, &path, at)?;
        self.open.push(Open {
            path,
            text: String::new(),
            at,
            has_more: has_attributes,
        });
        Ok(())
    }

    /// Takes the attributes of an element; those of the root name schemas only.
    fn attributes(&mut self, start: &BytesStart<'_>, path: &str, at: usize) -> Result<bool, Error> {
        let mut count = 0;
        for attribute in start.attributes() {
            count += 1;
            if count > MOST_ATTRIBUTES {
                return Err(self.too_much("an element of very many attributes"));
            }
            let attribute = attribute.map_err(|error| self.invalid(&error.to_string(), at))?;
            let key = attribute.key.local_name();
            if key.as_ref().len() > LONGEST_NAME {
                return Err(self.too_much("an attribute of a very long name"));
            }
            let value =
                unescape(&attribute.value).map_err(|error| self.invalid(&error.to_string(), at))?;
            self.permit(&value, at)?;
            if !path.is_empty() {
                self.found.push(Element {
                    path: format!("{path}@{}", key.as_ref()),
                    value: value.trim().to_owned(),
                    at,
                });
            }
        }
        Ok(count > 0)
    }

    /// An element ends: one without attributes and elements in it is a value.
    fn leave(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let text = open.text.trim();
        if !open.path.is_empty() && (!open.has_more || !text.is_empty()) {
            self.found.push(Element {
                value: text.to_owned(),
                path: open.path,
                at: open.at,
            });
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            open.text.push_str(text);
        }
    }

    /// Refuses what a reference must not stand for; what begins at `at` has it.
    fn permit(&self, text: &str, at: usize) -> Result<(), Error> {
        match text.chars().find(|one| !is_permitted(*one)) {
            None => Ok(()),
            Some(one) => Err(forbidden(self.name, line_at(self.whole, at), one)),
        }
    }

    fn reference(&mut self, reference: &BytesRef<'_>, at: usize) -> Result<(), Error> {
        let character = reference.resolve_char_ref();
        let character = character.map_err(|error| self.invalid(&error.to_string(), at))?;
        if let Some(character) = character {
            let mut bytes = [0; 4];
            let text: &str = character.encode_utf8(&mut bytes);
            self.permit(text, at)?;
            self.text(text);
            return Ok(());
        }
        let entity = reference.xml10_content();
        let Some(text) = resolve_predefined_entity(&entity) else {
            return Err(self.invalid(&format!("it has the undeclared entity &{entity};"), at));
        };
        self.text(text);
        Ok(())
    }

    /// What begins at `at`, or behind it, is no XML.
    fn invalid(&self, why: &str, at: usize) -> Error {
        let line = line_at(self.whole, at);
        Error::usage(
            format!(
                "{}:{line}: this is not valid XML: {}.",
                self.name,
                shown(why)
            ),
            AS_WRITTEN,
        )
    }

    fn too_much(&self, what: &str) -> Error {
        Error::usage(
            format!(
                "{} has {what}, which no configuration of Jetstress has.",
                self.name
            ),
            AS_WRITTEN,
        )
    }

    fn has_dtd(&self) -> Error {
        Error::usage(
            format!(
                "{} has a document type definition, which no configuration of Jetstress has.",
                self.name
            ),
            "Remove <!DOCTYPE ...> from it; entities are not resolved.",
        )
    }

    fn not_a_configuration(&self, found: &str) -> Error {
        Error::usage(
            format!(
                "{} is no configuration of Jetstress: it has <{}> where only <{ROOT}> may be.",
                self.name,
                shown(found)
            ),
            "Give the JetstressConfig.xml of a test.",
        )
    }
}

fn join(above: &str, own: &str) -> String {
    if above.is_empty() {
        return own.to_owned();
    }
    format!("{above}/{own}")
}
