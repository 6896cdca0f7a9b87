//! A small declaration with every kind of setting.

use std::collections::BTreeMap;

use config::{ByteSize, Format, TimeSpan, choice, flattened, limit_ms, or_word, settings, within};

choice! {
    /// How a group protects its data.
    pub enum Raid default Raid1 {
        /// Striped; no protection.
        Raid0 = "raid0",
        /// The same on every disk.
        Raid1 = "raid1",
        /// One rotating parity chunk per stripe.
        Raid5 = "raid5",
    }
}

settings! {
    /// What this server is.
    pub struct Server {
        /// Its name for people.
        pub title: String;
        /// Whether it is in use.
        pub enabled: bool = true;
        /// The cache of the server.
        pub cache: Cache = Cache::default();
        /// Pools of disks.
        pub pool: Vec<Pool> = Vec::new();
        /// Disks of the server's own.
        pub disks: BTreeMap<String, Disk> = BTreeMap::new();
        /// The way to the partner; without the table there is none.
        pub link: Option<Link>;
    }
}

settings! {
    /// What is kept in memory.
    pub struct Cache {
        /// Memory for data.
        pub size: ByteSize = ByteSize::mib(64), as within(ByteSize::mib(1)..=ByteSize::gib(64)),
            source "Project default.";
        /// How long a page may stay dirty.
        pub age: TimeSpan = TimeSpan::seconds(5);
        /// Share of the cache that may be dirty.
        pub dirty_percent: f64 = 50.0, as within(0.0..=100.0), was "unwritten_percent",
            source "Half of it is usual.";
        /// Threads that write; "auto" is one for each disk.
        pub writers: Option<u32> = None, as or_word("auto", within(1..=64));
        /// Limit of the mean latency.
        pub limit_ms: f64 = f64::INFINITY, as limit_ms(), key "latency_limit";
    }
}

settings! {
    /// Disks that lie together.
    pub struct Pool {
        /// Its disks.
        pub disks: Disks, as flattened();
        /// Levels at which a warning is counted.
        pub warning_percent: Vec<u32> = vec![50, 75, 95];
        /// Disks kept in reserve.
        pub spares: u16 = 0;
    }
}

settings! {
    /// Equal disks.
    #[derive(Copy)]
    pub struct Disks {
        /// How many there are.
        pub disk_count: u16;
        /// How they protect each other.
        pub raid: Raid = Raid::Raid1;
        /// Chunk of the levels that stripe.
        pub chunk_kib: Option<u32>;
    }
}

settings! {
    /// A disk.
    pub struct Disk {
        /// Turns per minute.
        pub rpm: u32 = 7200;
        /// Factor without bounds.
        pub factor: f32 = 0.1;
    }
}

settings! {
    /// The way between two servers.
    pub struct Link {
        /// Rate of each direction.
        pub rate_mb_per_s: f64;
        /// Time for each transfer.
        pub transfer_us: f64 = 0.0;
    }
}

/// What may be extended.
pub const BASE: &str = "title = 'base'\n[pool]\ndisk_count = 6\nraid = 'raid5'\nchunk_kib = 64\n";

/// Descriptions of servers.
pub static SERVER: Format = Format {
    noun: "server",
    bundled: |name| (name == "base").then_some(BASE),
    names: || vec!["base"],
    ignored: &["event"],
    required: None,
};
