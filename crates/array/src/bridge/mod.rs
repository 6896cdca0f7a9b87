//! The array as storage for tasks: requests are awaited, volumes hold files.
//!
//! The model itself is plain state to which times are passed in. Here it is registered with a
//! [`runtime::Runtime`] as a source of events, so that tasks and model share one clock:
//!
//! - [`VolumeModel`] is what the bridge needs of a model; the [`Array`](crate::Array) is one,
//!   `IdealVolumes` (feature `ideal`) answers after a fixed time and is for tests and for measuring
//!   the rest.
//! - [`ArrayHost`] is the host: it submits requests, and completions wake the tasks that wait.
//! - [`ArrayVolume`] is one volume of it, in sectors, with or without contents.
//! - [`VolumeFiles`] and [`VolumeFile`] are directories and files on a volume. Where a file lies
//!   does not depend on whether the volume carries contents, so that a run that carries bytes and
//!   one that only counts time meet the same addresses.

mod directory;
mod file;
mod host;
#[cfg(any(test, feature = "ideal"))]
mod ideal;
mod model;
mod slots;
mod space;
#[cfg(test)]
mod tests;
mod volume;
mod written;

pub use directory::VolumeFiles;
pub use file::VolumeFile;
pub use host::ArrayHost;
#[cfg(any(test, feature = "ideal"))]
pub use ideal::{IdealVolumes, IdealVolumesSettings};
pub use model::{FilePayload, VolumeModel};
pub use volume::ArrayVolume;
