//! Units of time. All times are nanoseconds as `u64`.

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;
/// Nanoseconds in a microsecond.
pub const MICROSECOND_NS: u64 = 1_000;
