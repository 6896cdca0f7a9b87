//! Storage in memory that behaves like the worst storage a promise allows.
//!
//! A [`SimulatedDisk`] carries directories of files and passes time on the runtime's clock. It keeps
//! apart what reads see from what is durable:
//!
//! - a write marked [`crate::Persistence::Durable`] is safe once its call returned, and may be there
//!   in part before;
//! - any other write is safe after [`crate::File::sync`]; until then a power cut may keep it, lose
//!   it or tear it, each write on its own ([`Tearing`]);
//! - creations, renamings, removals and changes of size form one ordered list, of which a power cut
//!   keeps a prefix at least as long as the last flush requires: [`crate::Directory::sync`] makes
//!   all of them durable, flushing or durably writing a file only its size and what came before.
//!
//! [`SimulatedDisk::crash`] loses power at any instant, [`SimulatedDisk::reopen`] brings the disk
//! back as it then looks, and [`SimulatedDisk::crashed_copy`] shows what could be left without
//! disturbing the run. [`Fault`]s make chosen requests fail, lie or cut the power. All random
//! numbers come from a seed.
//!
//! Inside: `content` holds bytes, `state` what is pending, `crash` decides what is left, `disk`
//! lets time pass, `file` speaks the traits, `short_write` ends writes on a full disk, and `wrong` keeps
//! account of what faults made wrong.

mod content;
mod crash;
mod disk;
mod faults;
mod file;
mod options;
mod short_write;
mod state;
mod under_way;
mod wrong;
mod wrong_blocks;

pub use crash::CutWrite;
pub use disk::{LoggedOperation, LoggedOutcome, SimulatedDisk};
pub use faults::{Fault, FaultEffect};
pub use file::{SimulatedDirectory, SimulatedFile};
pub use options::{AfterPowerLoss, SimulatedOptions, Tearing};
pub use wrong_blocks::{WrongBlock, WrongRead};
