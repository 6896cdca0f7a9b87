//! Descriptions: the built-in ones are disks, and no text whatever makes the loader panic.

use proptest::prelude::*;
use toml::{Table, Value};

use super::*;
use crate::{Direction, SECTOR_BYTES};

#[test]
fn every_bundled_disk_can_be_built_and_serves() {
    for bundled in BUNDLED_DISKS {
        let description: DiskDescription = config::from_toml(bundled.toml)
            .unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
        assert_eq!(description.check(), [], "{}", bundled.name);
        let mut disk = DiskModel::new(&description, 1).unwrap();
        serve_a_few(&mut disk);
        let mut another = disk.another(2);
        assert_eq!(another.counters().completed(), 0, "{}", bundled.name);
        serve_a_few(&mut another);
    }
}

#[test]
fn outer_rates_of_the_bundled_disks_are_those_of_their_sheets() {
    for (name, sheet_mb_per_s) in [
        ("sas-10k-900gb", 195.0),
        ("sas-10k-1200gb", 204.0),
        ("sas-15k-600gb", 250.0),
        ("fc-15k-72gb", 75.0),
    ] {
        let bundled = BUNDLED_DISKS.iter().find(|disk| disk.name == name).unwrap();
        let description: DiskDescription = config::from_toml(bundled.toml).unwrap();
        let mut disk = DiskModel::new(&description, 1).unwrap();
        let (mut next, mut now_ns, mut began_ns) = (0, 0, 0);
        for request in 0..2_000 {
            disk.submit(now_ns, read(next, 256));
            next += 256;
            now_ns = disk.next_completion_ns().unwrap();
            disk.complete(now_ns);
            if request == 0 {
                began_ns = now_ns;
            }
        }
        let bytes = (next - 256) * SECTOR_BYTES;
        let mb_per_s = bytes as f64 / (now_ns - began_ns) as f64 * 1e3;
        let ratio = mb_per_s / sheet_mb_per_s;
        assert!((ratio - 1.0).abs() < 0.04, "{name}: {mb_per_s}");
    }
}

fn read(first_sector: u64, sectors: u32) -> DiskRequest {
    DiskRequest {
        tag: 0,
        direction: Direction::Read,
        first_sector,
        sectors,
    }
}

/// Requests at both ends and in the middle, of one sector and of many, all completed.
fn serve_a_few(disk: &mut DiskModel) {
    let capacity = disk.capacity_sectors();
    let mut now_ns = 0;
    for (at, length) in [(0.0, 1), (1.0, 1), (0.5, 64), (1.0, 4_096), (0.0, 4_096)] {
        for direction in [Direction::Read, Direction::Write] {
            let sectors = capacity.min(length) as u32;
            let first = ((capacity - u64::from(sectors)) as f64 * at) as u64;
            let first_sector = first.min(capacity - u64::from(sectors));
            while disk.queued() >= disk.on_board_queue_depth() {
                now_ns = disk.next_completion_ns().unwrap();
                disk.complete(now_ns);
            }
            disk.submit(
                now_ns,
                DiskRequest {
                    direction,
                    ..read(first_sector, sectors)
                },
            );
        }
    }
    while let Some(done_ns) = disk.next_completion_ns() {
        disk.complete(done_ns);
    }
    assert_eq!(disk.queued(), 0);
    assert_eq!(disk.counters().completed(), 10);
    disk.counters().check_invariants().unwrap();
}

#[test]
fn unknown_keys_and_wrong_kinds_are_errors() {
    let valid = BUNDLED_DISKS[0].toml;
    let unknown = format!("{valid}\nsurprise = 1\n");
    let error = config::from_toml::<DiskDescription>(&unknown).unwrap_err();
    assert!(error.to_string().contains("surprise"), "{error}");
    let none: DiskDescription = config::from_toml("title = 'nothing'").unwrap();
    assert_eq!(none.check()[0].path, "title");
    let error = DiskModel::new(&none, 1).unwrap_err().to_string();
    assert!(
        error.contains("nothing") && error.contains("[hard_disk]"),
        "{error}"
    );
}

#[test]
fn broken_rules_are_reported_with_the_key_that_breaks_them() {
    let diagnostics_of = |bundled: &str, old: &str, new: &str| {
        let disk = BUNDLED_DISKS
            .iter()
            .find(|disk| disk.name == bundled)
            .unwrap();
        assert!(disk.toml.contains(old), "{bundled} has no {old}");
        let text = disk.toml.replace(old, new);
        let description: DiskDescription = match config::from_toml(&text) {
            Ok(description) => description,
            Err(error) => return error.diagnostics.into_iter().map(|d| d.message).collect(),
        };
        let broken_rules = description.check();
        assert!(DiskModel::new(&description, 1).is_err());
        broken_rules.into_iter().map(|c| c.path).collect::<Vec<_>>()
    };
    let hdd = |old, new| diagnostics_of("sas-10k-600gb", old, new);
    assert_eq!(
        hdd("heads = 6", "heads = 5"),
        ["hard_disk.average_bytes_per_track"]
    );
    assert_eq!(
        hdd("rpm = 10_000", "rpm = 0"),
        ["0 is out of range; write a whole number from 1000 to 60000"]
    );
    assert_eq!(
        hdd("average_ms = 3.8", "average_ms = 6.9"),
        ["hard_disk.seek.read.average_ms"]
    );
    assert_eq!(
        hdd("full_stroke_ms = 8.18", "full_stroke_ms = 0.1"),
        ["hard_disk.seek.write"]
    );
    assert_eq!(
        hdd("segments = 16", "segments = 1000"),
        ["1000 is out of range; write a whole number from 1 to 256"]
    );
    let ssd = |old, new| diagnostics_of("ssd-dc-s3500-800gb", old, new);
    assert_eq!(
        ssd(
            "random_write_4k_iops = 11_500.0",
            "random_write_4k_iops = 500_000.0"
        ),
        ["solid_state.random_write_4k_iops"]
    );
    assert_eq!(
        ssd("page_bytes = 16_384", "page_bytes = 5000"),
        ["solid_state.page_bytes"]
    );
}

/// Numbers as they turn up in files: plausible, zero, huge, negative, not numbers.
fn any_value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        (-2_i64..200_000).prop_map(Value::Integer),
        any::<i64>().prop_map(Value::Integer),
        (-1.0_f64..1_000.0).prop_map(Value::Float),
        any::<f64>().prop_map(Value::Float),
        Just(Value::Float(f64::NAN)),
        Just(Value::Float(f64::INFINITY)),
        any::<bool>().prop_map(Value::Boolean),
        Just(Value::String("first_come".into())),
        Just(Value::Array(Vec::new())),
        Just(Value::Table(Table::new())),
    ];
    plain
}

/// Every path to a value in a table, tables left out.
fn paths(table: &Table, prefix: &[String], out: &mut Vec<Vec<String>>) {
    for (key, value) in table {
        let path: Vec<String> = prefix.iter().cloned().chain([key.clone()]).collect();
        match value {
            Value::Table(inner) => paths(inner, &path, out),
            _ => out.push(path),
        }
    }
}

fn set(table: &mut Table, path: &[String], value: Option<Value>) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let mut at = table;
    for parent in parents {
        match at.get_mut(parent) {
            Some(Value::Table(inner)) => at = inner,
            _ => return,
        }
    }
    match value {
        Some(value) => {
            at.insert(last.clone(), value);
        }
        None => {
            at.remove(last);
        }
    }
}

/// Reads a table as a disk; if it is one, it serves. Whether it was one.
fn try_disk(table: &Table) -> bool {
    let text = toml::to_string(table).unwrap();
    let Ok(description) = config::from_toml::<DiskDescription>(&text) else {
        return false;
    };
    let broken_rules = description.check();
    match DiskModel::new(&description, 1) {
        Ok(mut disk) => {
            assert_eq!(broken_rules, []);
            serve_a_few(&mut disk);
            true
        }
        Err(error) => {
            assert!(
                !broken_rules.is_empty(),
                "refused without a diagnostic: {error}"
            );
            false
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_table_makes_a_disk_panic(
        base in 0..BUNDLED_DISKS.len(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::option::weighted(0.9, any_value())),
            1..4,
        ),
        zones in prop::option::weighted(0.2, prop::collection::vec(
            (0_i64..100_000, 0_i64..3_000, prop::option::of(0_i64..4_000)), 0..5)),
        rows in prop::option::weighted(0.2, prop::collection::vec(
            (0_i64..200_000, -0.1_f64..30.0), 0..5)),
    ) {
        let mut table: Table = BUNDLED_DISKS[base].toml.parse().unwrap();
        let mut places = Vec::new();
        paths(&table, &[], &mut places);
        for (index, value) in changes {
            set(&mut table, &places[index.index(places.len())], value);
        }
        if let Some(zones) = zones {
            let zones = zones.into_iter().map(|(cylinders, sectors, skew)| {
                let mut zone = Table::new();
                zone.insert("cylinders".into(), cylinders.into());
                zone.insert("sectors_per_track".into(), sectors.into());
                if let Some(skew) = skew {
                    zone.insert("track_skew_sectors".into(), skew.into());
                }
                Value::Table(zone)
            });
            let zones = Value::Array(zones.collect());
            set(&mut table, &["hard_disk".into(), "zones".into()], Some(zones));
        }
        if let Some(mut rows) = rows {
            rows.sort_by_key(|row| row.0);
            let rows = rows.into_iter().map(|(tracks, time_ms)| {
                let mut row = Table::new();
                row.insert("tracks".into(), tracks.into());
                row.insert("time_ms".into(), time_ms.into());
                Value::Table(row)
            });
            let mut seeks = Table::new();
            seeks.insert("rows".into(), Value::Array(rows.collect()));
            seeks.insert("write_settle_ms".into(), 0.2.into());
            set(&mut table, &["hard_disk".into(), "seek".into()], None);
            let seeks = Some(Value::Table(seeks));
            set(&mut table, &["hard_disk".into(), "measured_seek".into()], seeks);
        }
        try_disk(&table);
    }

    #[test]
    fn shrunk_and_stretched_drives_serve(
        heads in 1_i64..12,
        tracks in 3_i64..3_000,
        per_track in 2_i64..400,
        odd_sectors in 0_i64..50,
        rpm in 3_000_i64..16_000,
        ratio in 1.0_f64..4.0,
        zone_count in 1_i64..256,
    ) {
        let mut table: Table = BUNDLED_DISKS[0].toml.parse().unwrap();
        let mut put = |key: &str, value: Option<Value>| {
            set(&mut table, &["hard_disk".into(), key.into()], value);
        };
        let sectors = heads * tracks * per_track + odd_sectors;
        put("capacity_bytes", Some(Value::Integer(sectors * 512)));
        put("heads", Some(Value::Integer(heads)));
        put("tracks_per_surface", Some(Value::Integer(tracks)));
        put("rpm", Some(Value::Integer(rpm)));
        put("outer_to_inner_rate_ratio", Some(Value::Float(ratio)));
        put("zone_count", Some(Value::Integer(zone_count)));
        put("average_bytes_per_track", None);
        // Over few tracks no curve has this average, and tiny tracks shrink to nothing inside.
        prop_assert!(try_disk(&table) || per_track < 8 || tracks < 1_000);
    }
}
