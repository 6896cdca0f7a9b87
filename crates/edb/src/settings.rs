//! Every number that shapes the engine's I/O, with the value Exchange 2013 works with.
//!
//! *Source* says where a default comes from: "ESE" is Microsoft's published source of the engine
//! (2022 tree), "Exchange 2013" a published value of that product, "assumed" a common value that no
//! source at hand confirms.

/// How page writes become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritePolicy {
    /// Each page write is durable when it completes (force unit access). Source: ESE opens its files
    /// unbuffered and write-through.
    WriteThrough,
    /// Page writes may stay in the device's cache; the device is flushed before the checkpoint moves.
    FlushAtCheckpoint,
}

/// What guards against a page write that only half reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TornPages {
    /// The page checksum finds the damage; the page needs another copy. Source: ESE.
    Detect,
    /// The page's image goes to the log before the page is overwritten, so that redo can restore it.
    LogImages,
}

/// How the background scan is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaintenanceThrottle {
    /// A pause after each batch, in milliseconds.
    PauseMs(u64),
    /// A rate over the whole scan, in bytes per second.
    BytesPerSecond(u64),
}

/// The endless scan that verifies every page of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceSettings {
    /// Whether the scan runs at all.
    pub enabled: bool,
    /// How it is held back. Default: 100 ms pause. Source: Jetstress 2013 (1 MiB per second in
    /// Exchange 2013 itself).
    pub throttle: MaintenanceThrottle,
    /// The shortest time from the start of one pass to the start of the next, in seconds. Default: 0,
    /// so that a test sees the stream at any time. ESE: 1 day.
    pub min_pass_interval_s: u64,
}

impl Default for MaintenanceSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            throttle: MaintenanceThrottle::PauseMs(100),
            min_pass_interval_s: 0,
        }
    }
}

/// All numbers of one database. `Default` is Exchange 2013.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineSettings {
    /// Bytes of a page: 4,096, 8,192, 16,384 or 32,768. Default: 32 KiB. Source: Exchange 2010 and later.
    pub page_size_bytes: usize,
    /// Bytes of the page cache. Default: 256 MiB. Source: Jetstress, maximum per database (reported).
    pub cache_size_bytes: u64,
    /// Bytes of one log file. Default: 1 MiB. Source: Exchange 2007 and later.
    pub log_file_size_bytes: u64,
    /// Bytes of log that may wait to be written before new work waits; a write starts when half of
    /// it is full. Default: 1 MiB. Source: assumed.
    pub log_buffer_bytes: u64,
    /// Log files kept in reserve for a full disk. Default: 2. Source: ESE.
    pub reserve_log_files: u32,
    /// Whether log files below the checkpoint are removed or used again. Default: yes, as Jetstress.
    pub circular_logging: bool,
    /// Readers that each read every full log file once, as the shipping of logs to a further copy of the
    /// database does. Default: 0. Source: Jetstress, DatabaseCopyCount less one (the number of readers is
    /// assumed).
    pub log_replication_readers: u32,
    /// Bytes of one of their reads. Default: 256 KiB. Source: assumed; Jetstress reports reads of up to
    /// 230 KB (reported).
    pub log_replication_read_bytes: u64,
    /// How far the checkpoint may lag behind the end of the log. Default: 20 MiB. Source: Exchange 2013
    /// stand-alone (100 MiB with copies).
    pub checkpoint_depth_bytes: u64,
    /// Writes outstanding while the lag is below `flush_urgent_percent` of the depth. Default: 1.
    /// Source: ESE.
    pub checkpoint_outstanding_writes: u32,
    /// Lag, in percent of the depth, from where write-back becomes urgent. Default: 125. Source: ESE.
    pub flush_urgent_percent: u32,
    /// Bytes of lag that raise the urgency by one. Default: 512 KiB. Source: ESE.
    pub flush_urgency_step_bytes: u64,
    /// Wait of the flusher while work remains, in milliseconds. Default: 10. Source: ESE.
    pub flush_retry_ms: u64,
    /// Wait of the flusher when there is nothing to do, in milliseconds. Default: 1,000. Source: ESE.
    pub flush_idle_ms: u64,
    /// Shortest time between two writes of the checkpoint file, in milliseconds. Default: 1,000.
    /// Source: ESE (plus up to as much again of slack).
    pub checkpoint_interval_ms: u64,
    /// Requests outstanding per database; urgent background writes get half. Default: 1,024. Source: ESE.
    pub outstanding_io_max: u32,
    /// Largest read made of neighbouring pages. Default: 256 KiB. Source: assumed for Exchange 2013.
    pub max_coalesce_read_bytes: u64,
    /// Largest write made of neighbouring pages. Default: 256 KiB. Source: assumed for Exchange 2013.
    pub max_coalesce_write_bytes: u64,
    /// Largest hole a read goes over, its bytes thrown away. Default: 512 KiB. Source: ESE.
    pub coalesce_gap_read_bytes: u64,
    /// Largest run of clean pages a write carries along to join dirty ones. Default: 512 KiB. Source: ESE.
    pub coalesce_gap_write_bytes: u64,
    /// Log positions recovery reads ahead of itself. Default: 8. Source: ESE.
    pub recovery_preread: u32,
    /// Pages a sequential scan reads ahead. Default: 128. Source: ESE.
    pub scan_preread_pages: u32,
    /// Pages read ahead once an index has been read sequentially for `automatic_preread_after_bytes`.
    /// Default: 16. Source: ESE.
    pub automatic_preread_pages: u32,
    /// Bytes read in sequence that start automatic read-ahead. Default: 64 KiB. Source: ESE.
    pub automatic_preread_after_bytes: u64,
    /// Pages of a long value read ahead. Default: 16. Source: ESE.
    pub long_value_preread_pages: u32,
    /// Pages by which the file grows. Default: 256. Source: ESE.
    pub extension_pages: u32,
    /// Bytes of one zero-fill write, in new log files and in extensions. Default: 512 KiB. Source: ESE.
    pub zero_fill_write_bytes: u64,
    /// Touches of a page within this time count as one, in milliseconds. Default: 128. Source: ESE.
    pub lru_k_correlation_ms: u64,
    /// Touches further apart than this are not counted together, in seconds. Default: 100. Source: ESE.
    pub lru_k_timeout_s: u64,
    /// Evicted pages whose last touch is remembered. Default: 100,000. Source: ESE.
    pub lru_k_history_entries: usize,
    /// Free share of the cache below which pages are evicted at once. Default: 1 %. Source: ESE.
    pub start_flush_percent: f64,
    /// Free share of the cache at which eviction stops. Default: 2 %. Source: ESE.
    pub stop_flush_percent: f64,
    /// Wait of the scavenger after a request, in milliseconds. Default: 10. Source: ESE.
    pub scavenge_delay_ms: u64,
    /// Bytes of before-images of open transactions. Default: 64 MiB. Source: assumed (thousands of
    /// 32 KiB buckets).
    pub version_store_bytes: u64,
    /// How page writes become durable. Default: write-through. Source: ESE.
    pub database_writes: WritePolicy,
    /// What guards against torn pages. Default: detection by checksum. Source: ESE.
    pub torn_page_protection: TornPages,
    /// The background scan.
    pub maintenance: MaintenanceSettings,
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            page_size_bytes: 32_768,
            cache_size_bytes: 256 * MIB,
            log_file_size_bytes: MIB,
            log_buffer_bytes: MIB,
            reserve_log_files: 2,
            circular_logging: true,
            log_replication_readers: 0,
            log_replication_read_bytes: 256 * KIB,
            checkpoint_depth_bytes: 20 * MIB,
            checkpoint_outstanding_writes: 1,
            flush_urgent_percent: 125,
            flush_urgency_step_bytes: 512 * KIB,
            flush_retry_ms: 10,
            flush_idle_ms: 1000,
            checkpoint_interval_ms: 1000,
            outstanding_io_max: 1024,
            max_coalesce_read_bytes: 256 * KIB,
            max_coalesce_write_bytes: 256 * KIB,
            coalesce_gap_read_bytes: 512 * KIB,
            coalesce_gap_write_bytes: 512 * KIB,
            recovery_preread: 8,
            scan_preread_pages: 128,
            automatic_preread_pages: 16,
            automatic_preread_after_bytes: 64 * KIB,
            long_value_preread_pages: 16,
            extension_pages: 256,
            zero_fill_write_bytes: 512 * KIB,
            lru_k_correlation_ms: 128,
            lru_k_timeout_s: 100,
            lru_k_history_entries: 100_000,
            start_flush_percent: 1.0,
            stop_flush_percent: 2.0,
            scavenge_delay_ms: 10,
            version_store_bytes: 64 * MIB,
            database_writes: WritePolicy::WriteThrough,
            torn_page_protection: TornPages::Detect,
            maintenance: MaintenanceSettings::default(),
        }
    }
}

impl EngineSettings {
    /// Whole pages in the cache.
    #[must_use]
    pub fn cache_pages(&self) -> usize {
        (self.cache_size_bytes / self.page_size_bytes as u64) as usize
    }

    /// Says what is wrong with these settings and what would be right.
    ///
    /// # Errors
    /// A whole sentence about the first number that cannot work.
    pub fn check(&self) -> Result<(), String> {
        let page_bytes = self.page_size_bytes as u64;
        if ![4096, 8192, 16_384, 32_768].contains(&page_bytes) {
            return Err(format!(
                "The page size is {page_bytes} bytes; choose 4096, 8192, 16384 or 32768."
            ));
        }
        if self.cache_pages() < 64 {
            return Err(format!(
                "The cache holds {} pages; give it at least 64 (cache_size_bytes >= {}).",
                self.cache_pages(),
                64 * page_bytes
            ));
        }
        let log_bytes = self.log_file_size_bytes;
        if !(64 * KIB..=32 * MIB).contains(&log_bytes) || !log_bytes.is_multiple_of(4 * KIB) {
            return Err(format!(
                "A log file has {log_bytes} bytes; choose whole 4 KiB segments from 64 KiB to 32 MiB."
            ));
        }
        if log_bytes < 3 * page_bytes {
            return Err(format!(
                "A log file of {log_bytes} bytes cannot hold the largest records; choose at least {}.",
                3 * page_bytes
            ));
        }
        if self.checkpoint_depth_bytes < log_bytes {
            return Err(format!(
                "The checkpoint depth is {} bytes; it must be at least one log file ({log_bytes}).",
                self.checkpoint_depth_bytes
            ));
        }
        if self.max_coalesce_read_bytes < page_bytes || self.max_coalesce_write_bytes < page_bytes {
            return Err(format!(
                "The largest coalesced read and write must hold one page of {page_bytes} bytes."
            ));
        }
        let (start, stop) = (self.start_flush_percent, self.stop_flush_percent);
        if !(start > 0.0 && start < stop && stop <= 25.0) {
            return Err(format!(
                "Eviction starts at {start} % and stops at {stop} % free; both must be above 0, the \
                 second larger than the first and at most 25."
            ));
        }
        if self.zero_fill_write_bytes == 0 || !self.zero_fill_write_bytes.is_multiple_of(4 * KIB) {
            return Err("Zero fill needs a write size of whole 4 KiB blocks.".to_owned());
        }
        let read_bytes = self.log_replication_read_bytes;
        if read_bytes == 0 || !read_bytes.is_multiple_of(4 * KIB) {
            return Err("Log replication needs a read size of whole 4 KiB blocks.".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_mistakes_are_named() {
        assert_eq!(EngineSettings::default().check(), Ok(()));
        let broken = EngineSettings {
            log_file_size_bytes: 5000,
            ..EngineSettings::default()
        };
        let message = broken.check().unwrap_err();
        assert!(message.contains("5000"), "{message}");
    }
}
