//! Typed settings, each declared once, read from TOML and explained to whoever writes it.
//!
//! [`settings!`] declares a table: its fields with key, type, default, bounds, meaning (the
//! documentation comment) and the source of the default. [`choice!`] declares named values. From the
//! declaration come:
//!
//! - reading: [`Document::load`] lays [`Source`]s over each other (what a file `extends`, files,
//!   `--set path.key=value`, options) and reads them; [`from_toml`] reads a single text.
//!   [`ConfigError`] has everything that is wrong, each [`Diagnostic`] with its place in a text;
//! - rules between settings: [`Document::diagnostic`] and [`Document::broken_rule`] show them where
//!   something was written, [`Document::located`] at the line to change;
//! - writing: [`to_toml`] (all settings in force, commented), [`settings_by_path`],
//!   [`reference`](reference()) (Markdown) and [`json_schema`];
//! - every setting with what may be written for it: [`each_setting`];
//! - bounds of settings that code has set, by [`out_of_bounds`].
//!
//! How a value is written is the business of its [`Codec`]. Plain types have one; a declaration names
//! another with `as`: [`within`] for bounds, [`or_word`] for a word that stands for nothing,
//! [`limit_ms`] for limits that may be "none", [`optional`], [`list`], [`named`] and [`flattened`] tables. The
//! crate does no I/O: texts come in as strings with a name.
//!
//! ```
//! use config::{ByteSize, Format, Document, Source, choice, settings, within};
//!
//! choice! {
//!     /// How disks protect each other.
//!     pub enum Raid default Raid1 {
//!         /// The same on every disk.
//!         Raid1 = "raid1",
//!         /// One rotating parity chunk per stripe.
//!         Raid5 = "raid5",
//!     }
//! }
//!
//! settings! {
//!     /// Disks that lie together.
//!     pub struct Pool {
//!         /// How many disks there are.
//!         pub disk_count: u32 = 4, as within(1..=64), source "Four are usual.";
//!         /// How they protect each other.
//!         pub raid: Raid = Raid::Raid1;
//!         /// Memory that caches what is read.
//!         pub cache: ByteSize = ByteSize::mib(64), as within(ByteSize(0)..=ByteSize::gib(4));
//!     }
//! }
//!
//! static POOL: Format = Format::plain("pool");
//! let sources = [
//!     Source::file("mine.toml", "disk_count = 8\nraid = 'raid6'"),
//!     Source::value("--set", "cache", "1GiB"),
//! ];
//! let error = Document::<Pool>::load(&POOL, &sources).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "mine.toml:2: \"raid6\" is none of the words that fit here; write \"raid1\" or \"raid5\"; \
//!      did you mean \"raid1\"?"
//! );
//! ```

mod bounds;
mod cause;
pub mod codec;
pub mod declaration;
mod document;
mod layers;
mod node;
mod quantity;
mod render;
mod shape;
mod source;
mod suggest;
mod value;

pub use bounds::{each_setting, out_of_bounds};
pub use codec::{
    Choice, Codec, HasCodec, Keys, NoQuantity, Quantity, Reader, Settings, flattened, limit_ms,
    limit_s, list, named, number_or_text, optional, or_word, within,
};
pub use document::{Document, from_toml};
pub use layers::{Format, Layers};
pub use node::{Node, NodeValue};
pub use quantity::{ByteSize, TimeSpan};
pub use render::{json_schema, reference, reference_of, settings_by_path, to_toml};
pub use shape::{Absent, Field, Shape, Table};
pub use source::{ConfigError, Diagnostic, Location, Source};
pub use value::Value;
