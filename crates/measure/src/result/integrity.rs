//! What kinds of errors of data and storage are distinguished, how they are counted, and what the
//! verification after a run has read.

use serde::{Deserialize, Serialize};

/// Declares the classes of errors: their names for people and the error number of ESE, where it has
/// one for the same thing.
macro_rules! classes {
    ($($(#[$about:meta])* $name:ident $label:literal $ese:expr;)*) => {
        /// What is wrong with data that was read, or with a request: what programs compare.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum IntegrityClass {
            $($(#[$about])* $name,)*
            /// A class that this version does not know.
            #[default]
            #[serde(other)]
            Unknown,
        }

        impl IntegrityClass {
            /// Every known class, in the order in which people read them.
            pub const ALL: &[IntegrityClass] = &[$(IntegrityClass::$name,)*];

            /// The class in words.
            pub fn label(self) -> &'static str {
                match self {
                    $(IntegrityClass::$name => $label,)*
                    IntegrityClass::Unknown => "error",
                }
            }

            /// The number of the error that ESE reports for the same thing; `None` where it has none.
            pub fn ese_error(self) -> Option<i32> {
                match self {
                    $(IntegrityClass::$name => $ese,)*
                    IntegrityClass::Unknown => None,
                }
            }
        }
    };
}

classes! {
    /// A write was acknowledged, and the page holds what it held before.
    LostWrite "lost write" Some(-1119);
    /// A whole page of the same database stands in the wrong place.
    Misdirected "misdirected page" Some(-1118);
    /// A whole page of another database stands in the place.
    Foreign "page of another database" Some(-1119);
    /// The beginning of the page is of an older version than was written last, and other parts are not of that.
    Torn "torn page" Some(-1018);
    /// The page is all zero although it was written.
    Zeroed "zeroed page" Some(-1019);
    /// The page is empty and nobody is known to have written it; yet it is in use.
    NeverWritten "page never written" Some(-1019);
    /// The page is newer than anything that was written to it.
    FromTheFuture "page from the future" Some(-567);
    /// The checksum does not match the bytes.
    Checksum "wrong checksum" Some(-1018);
    /// The database file is shorter than it was.
    CutShort "database file cut short" Some(-1206);
    /// Pages are whole and contradict each other or the catalog.
    Structure "damaged structure" Some(-1206);
    /// A record is not what was committed.
    Contents "wrong contents" Some(-1206);
    /// A read was not carried out.
    Unreadable "failed read" Some(-1022);
    /// A write or a flush was not carried out.
    Unwritable "failed write" Some(-1022);
    /// A log file is not what was written.
    Log "damaged log" Some(-501);
    /// A header of the database is not what was written.
    Header "damaged header" Some(-1206);
    /// The checkpoint is not what was written.
    Checkpoint "damaged checkpoint" Some(-533);
    /// The versions of pages that are stored beside a closed database are not what was written.
    PageVersions "damaged page versions" None;
    /// The file beside a database that says what has become of it is not what was written.
    StateFile "damaged state file" None;
    /// A request was not answered in time.
    Hung "hung request" None;
}

/// How often errors of one class were met in one database.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorCount {
    /// Name of the database; empty when the error belongs to none.
    pub database: String,
    /// The class; null for errors that are no class of damage, such as a full disk.
    pub class: Option<IntegrityClass>,
    /// Different errors: a bad page counts once.
    pub errors: u64,
    /// Times that they were met.
    pub times: u64,
}

/// What the pass over the closed databases has read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VerificationResult {
    /// Why not everything was verified, as a sentence; empty when everything was.
    pub not_verified: String,
    /// One entry for each database that was read.
    pub databases: Vec<VerifiedDatabase>,
}

/// What the pass over one database has read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifiedDatabase {
    /// Name of the database.
    pub name: String,
    /// Pages read and verified.
    pub pages: u64,
    /// Bytes that were read for it.
    pub bytes: u64,
    /// How long it took.
    pub duration_s: f64,
    /// Wrong pages and failed reads that this pass has met, those known already included.
    pub errors: u64,
    /// Log files read and verified.
    pub log_files: u64,
    /// Segments of 4 KiB in them that hold records.
    pub log_segments: u64,
    /// Pages that the run has written; null when that was not counted.
    pub pages_written: Option<u64>,
    /// Of those, pages that were read back from the device and verified, in the run or after it; null
    /// when that was not counted.
    pub pages_read_back: Option<u64>,
}

impl VerifiedDatabase {
    /// Bytes read per second; `None` when it took no time.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.duration_s > 0.0).then(|| self.bytes as f64 / self.duration_s)
    }

    /// Pages that the run has written and nobody has read back since.
    pub fn never_read_back(&self) -> Option<u64> {
        Some(self.pages_written?.saturating_sub(self.pages_read_back?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_nobody_has_read_back_are_what_is_left_of_those_written() {
        let left = |pages_written, pages_read_back| {
            let database = VerifiedDatabase {
                pages_written,
                pages_read_back,
                ..VerifiedDatabase::default()
            };
            database.never_read_back()
        };
        assert_eq!(left(Some(1_200), Some(1_000)), Some(200));
        assert_eq!(left(Some(1_200), Some(1_200)), Some(0));
        assert_eq!(left(Some(1_200), None), None);
        assert_eq!(left(None, Some(1_000)), None);
    }

    #[test]
    fn a_pass_without_time_has_no_rate() {
        let rate = |duration_s| {
            let database = VerifiedDatabase {
                bytes: 3_000,
                duration_s,
                ..VerifiedDatabase::default()
            };
            database.bytes_per_second()
        };
        assert_eq!(rate(2.0), Some(1_500.0));
        assert_eq!(rate(0.0), None);
    }
}
