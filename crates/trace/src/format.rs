//! The formats of traces.

use strum::IntoStaticStr;

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum TraceFormat {
    /// Our CSV: a line that names the columns, then a line for each request.
    Csv,
    /// What `fio --write_iolog` writes, of version 2 or 3.
    FioIolog,
    /// What `fio --write_lat_log --log_offset=1` writes.
    FioLog,
    /// What `blkparse` prints by default.
    Blkparse,
}

impl TraceFormat {
    /// The name in settings and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
