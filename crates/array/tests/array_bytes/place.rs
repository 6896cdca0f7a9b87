//! Arrays to try: their settings, drawn at random.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

pub const VOLUMES: u16 = 2;

/// How much may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Nothing breaks.
    Calm,
    /// What the settings promise to survive, one thing after the other.
    Promised,
    /// Anything at any time: data may be lost, but never silently.
    Wild,
}

pub fn settings(random: &mut Xoshiro256PlusPlus, weather: Weather) -> (String, Place) {
    let two = random.random_bool(0.75);
    let mirror = two && (weather == Weather::Promised || random.random_bool(0.8));
    let alone = weather == Weather::Wild && random.random_bool(0.5);
    let line_kib = [4, 16, 64][random.random_range(0..3)];
    let paths = ["owner", "all"][random.random_range(0..2)];
    let flush = ["protected", "disks"][random.random_range(0..2)];
    let link = if two {
        "link = { rate_mb_per_s = 1000, transfer_us = 20, forward_us = 5 }"
    } else {
        ""
    };
    let place = Place::any(random, weather);
    let mut text = format!(
        "title = 'Test'
[controllers]
count = {count}
ports_per_controller = 2
host_paths = '{paths}'
port = {{ rate_mb_per_s = 800, command_us = 1 }}
service = {{ read_us = 10, write_us = 20, read_miss_us = {miss} }}
failover = {{ takeover_ms = {takeover}, path_switch_ms = {switch}, no_path_timeout_ms = 500, write_back_alone = {alone} }}
{link}
[cache]
capacity_mib = 1
line_kib = {line_kib}
mirror = {mirror}
dirty_limit_percent = {limit}
flush = '{flush}'
cache_reads = {hold}
destage = {{ age_ms = {age}, high_watermark_percent = 70, low_watermark_percent = 30, idle_ms = {idle}, in_flight = {in_flight} }}
read_ahead = {{ streams = 4, after_reads = 2, min_window_kib = 32, max_window_kib = 128 }}
{place}",
        place = place.text,
        count = if two { 2 } else { 1 },
        miss = random.random_range(0..10),
        takeover = random.random_range(1..40),
        switch = random.random_range(1..40),
        limit = [30, 60, 90][random.random_range(0..3)],
        hold = random.random_bool(0.8),
        age = [5, 50, 5000][random.random_range(0..3)],
        idle = [0, 3, 30][random.random_range(0..3)],
        in_flight = random.random_range(1..6),
    );
    for number in 0..VOLUMES {
        let through = random.random_bool(0.2);
        let policy = if through {
            "write-through"
        } else {
            "write-back"
        };
        let direct = through && random.random_bool(0.5);
        let owner = if two { number % 2 } else { 0 };
        let within = if place.is_pool {
            "pool = 'p'"
        } else {
            "group = 'g'"
        };
        text += &format!(
            "[[volumes]]\nname = 'v{number}'\n{within}\ncapacity_mib = 2\nowner = {owner}\n\
             write_policy = '{policy}'\ndirect_io = {direct}\nread_ahead = {}\n",
            random.random_bool(0.7)
        );
    }
    (text, place)
}

/// The disks, groups and pool of a trial.
pub struct Place {
    text: String,
    pub is_pool: bool,
    /// Disks of which one may fail at a time.
    pub protected_disks: u32,
    /// The disk of an SSD read cache, which may fail at any time.
    pub cache_disk: Option<u32>,
}

const DISKS: &str = "
[disks.d]
title = 'd'
[disks.d.ideal]
capacity_bytes = 4194304
service_us = 900
distribution = 'exponential'
servers = 1
[disks.s]
title = 's'
[disks.s.ideal]
capacity_bytes = 1048576
service_us = 90
distribution = 'exponential'
servers = 4
";

fn group(name: &str, disk: &str, disks: u32, level: &str) -> String {
    let chunk = if level == "linear" {
        ""
    } else {
        "chunk_kib = 16"
    };
    format!(
        "[[backend.disk_group]]\nname = '{name}'\ndisk = '{disk}'\ndisks = {disks}\n\
         level = '{level}'\n{chunk}\n"
    )
}

impl Place {
    fn any(random: &mut Xoshiro256PlusPlus, weather: Weather) -> Self {
        let levels = [
            ("raid0", 3, 0),
            ("linear", 2, 0),
            ("raid10", 4, 4),
            ("raid5", 4, 4),
            ("raid6", 5, 5),
        ];
        let (level, disks, protected_disks) = levels[random.random_range(0..levels.len())];
        let warp = [1, 60][random.random_range(0..2)];
        let mut text = DISKS.to_string() + &format!("[backend]\nwarp = {warp}\n");
        text += &group("g", "d", disks, level);
        let is_pool = random.random_bool(0.5);
        let with_tier = is_pool && random.random_bool(0.6);
        let with_cache = is_pool && random.random_bool(0.5);
        let mut groups = String::from("{ group = 'g', tier = 'standard' }");
        if with_tier {
            text += &group("s", "s", 1, "raid0");
            groups += ", { group = 's', tier = 'performance' }";
        }
        if with_cache {
            text += &group("c", "s", 1, "raid0");
        }
        if is_pool {
            let policies = ["off", "scan-rank-move", "heat", "lru", "lru-2"];
            let policy = policies[random.random_range(0..policies.len())];
            text += &format!(
                "[pools.p]\npage_size_kib = 64\ngroups = [{groups}]\n\
                 tiering = {{ policy = '{policy}', interval_s = 0.01, half_life_s = 1.0, \
                 free_pages = 1, move_limit_mib = 1 }}\n"
            );
        }
        if with_cache {
            text += "read_cache = { group = 'c', line_kib = 16 }\n";
        }
        let breaks = weather != Weather::Calm;
        Self {
            text,
            is_pool,
            protected_disks: if breaks { protected_disks } else { 0 },
            cache_disk: (with_cache && breaks).then_some(disks + u32::from(with_tier)),
        }
    }
}
