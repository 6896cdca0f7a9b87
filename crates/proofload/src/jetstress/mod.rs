//! What people who come from Microsoft's Jetstress bring along.
//!
//! - [`import`] makes a profile of a `JetstressConfig.xml` of 2007, 2010 or 2013: `encoding` takes the bytes for text, `document` reads the XML into
//!   `Elements`, each `translate` module takes its elements out of them, and what nobody has taken is listed
//!   as unusable. [`Draft`] writes the profile.
//! - [`legacy`] takes the command line of `Jetstress.exe` 2003/2004.
//!
//! Nothing here reads or writes files.

mod command;
mod document;
mod draft;
mod elements;
mod encoding;
mod import;
#[cfg(feature = "host")]
pub mod legacy;
mod notes;
mod scalar;
mod translate;
mod version;

pub use command::quoted;
pub use document::LARGEST_FILE_BYTES;
pub use draft::{Draft, number as as_number, quoted as as_text};
pub use encoding::looks_like_xml;
pub use import::{Imported, import};
pub use notes::{Note, Notes};
