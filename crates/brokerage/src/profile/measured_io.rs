//! `[brokerage.measured_io]`: I/O per transaction that a run has measured.

use config::{ByteSize, or_word, settings, within};

/// Where the values of a prediction come from.
const OF_A_RUN: &str = "proofload predict --like DIR takes it from a run.";

settings! {
    /// I/O that a run on a real database has measured, for each transaction that users begin. A prediction
    /// makes as much instead of what its model of the database would; a run takes none of this.
    pub struct MeasuredIo {
        /// Reads of the data files. "none" leaves those of the model.
        pub reads_per_transaction: Option<f64> = None,
            as or_word("none", within(0.0..=1e6)), source OF_A_RUN;
        /// Writes of the data files. "none" leaves those of the model.
        pub writes_per_transaction: Option<f64> = None,
            as or_word("none", within(0.0..=1e6)), source OF_A_RUN;
        /// Average size of these writes, in whole pages. Without effect where their number is "none".
        pub write_size: ByteSize = ByteSize::kib(8),
            as within(ByteSize::kib(4)..=ByteSize::mib(16)), source OF_A_RUN;
        /// Log writes: those that the commits of the model do not come to are made beside them. "none" leaves
        /// those of the model.
        pub log_writes_per_transaction: Option<f64> = None,
            as or_word("none", within(0.0..=1e6)), source OF_A_RUN;
        /// Bytes of all log writes. "none" leaves those of the model.
        pub log_bytes_per_transaction: Option<f64> = None,
            as or_word("none", within(0.0..=1e9)), source OF_A_RUN;
    }
}
