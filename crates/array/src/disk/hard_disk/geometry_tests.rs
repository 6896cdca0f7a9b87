//! Every sector has a place of its own, and what follows in address follows on the medium.

use super::geometry::Geometry;
use super::mechanics::{Cursor, Mechanics};
use super::tests::savvio;
use super::zones::ZoneShape;
use super::{HardDiskDescription, MeasuredZone};
use crate::Direction;

use super::rotation::{Rotation, TURN};

#[test]
fn addresses_run_along_tracks_then_heads_then_cylinders() {
    let shape = |cylinders, sectors_per_track| ZoneShape {
        cylinders,
        sectors_per_track,
        track_skew_sectors: 2,
        cylinder_skew_sectors: 3,
    };
    let shapes = [shape(3, 10), shape(2, 7), shape(4, 5)];
    let rotation = Rotation::new(10_000);
    let capacity = 2 * (3 * 10 + 2 * 7 + 4 * 5);
    let geometry = Geometry::new(&shapes, 2, capacity, &rotation);
    let mut expected = Vec::new();
    let (mut cylinder, mut tracks) = (0, 0_u64);
    for shape in shapes {
        for within in 0..shape.cylinders {
            for head in 0..2 {
                // Two sectors of skew to the second head, three more to the next cylinder.
                let skew = within * 5 + head * 2;
                for sector in 0..shape.sectors_per_track {
                    let turn = f64::from(skew + sector) / f64::from(shape.sectors_per_track);
                    expected.push((cylinder, head, sector, turn.fract()));
                }
                tracks += 1;
            }
            cylinder += 1;
        }
    }
    assert_eq!(tracks, 18);
    assert_eq!(expected.len() as u64, capacity);
    for (address, (cylinder, head, sector, turn)) in expected.into_iter().enumerate() {
        let place = geometry.locate(address as u64);
        let is = (place.cylinder, place.head, place.sector);
        assert_eq!(is, (cylinder, head, sector), "sector {address}");
        let angle = f64::from(geometry.angle(&place)) / f64::from(TURN);
        let apart = (angle - turn).abs();
        assert!(
            apart.min(1.0 - apart) < 1e-6,
            "sector {address}: {angle} {turn}"
        );
    }
}

#[test]
fn passing_many_sectors_takes_a_turn_and_a_skew_per_track() {
    let disk = HardDiskDescription {
        outer_to_inner_rate_ratio: 1.0,
        ..savvio()
    };
    let mechanics = Mechanics::new(&disk).unwrap();
    let place = mechanics.geometry.locate(0);
    let per_track = mechanics.geometry.left_on_track(&place);
    let mut cursor = Cursor {
        place,
        at_ns: 1_000_000,
    };
    mechanics.wait_for_place(&mut cursor);
    let began_ns = cursor.at_ns;
    // 60 tracks on 6 heads: 50 switches of heads, 9 moves of the arm, one track without either.
    mechanics.pass(&mut cursor, per_track * 60, Direction::Read);
    let took_ns = (cursor.at_ns - began_ns) as f64;
    let sector_ns = 6e6 / f64::from(per_track);
    // Both the head and the arm settle for a write within the skew: 0.3 + 0.26 ms and 0.56 ms.
    let skew_ns = (0.56e6 / sector_ns).ceil() * sector_ns;
    let expected_ns = 60.0 * 6e6 + 59.0 * skew_ns;
    assert!(
        (took_ns / expected_ns - 1.0).abs() < 1e-4,
        "{took_ns} {expected_ns}"
    );
}

#[test]
fn as_many_sectors_pass_until_a_time_as_take_that_time() {
    let mechanics = Mechanics::new(&savvio()).unwrap();
    for first_sector in [0, 1_322, 5_000_000, 1_000_000_000] {
        let start = Cursor {
            place: mechanics.geometry.locate(first_sector),
            at_ns: 777,
        };
        for sectors in [1_u32, 63, 1_500, 7_999, 20_000] {
            let mut passed = start;
            mechanics.pass(&mut passed, sectors, Direction::Read);
            let mut until = start;
            let count = mechanics.pass_until(&mut until, passed.at_ns + 1, 1 << 40);
            assert_eq!(count, u64::from(sectors), "from {first_sector}");
            let mut until = start;
            let count = mechanics.pass_until(&mut until, passed.at_ns - 10, 1 << 40);
            assert_eq!(count, u64::from(sectors) - 1, "from {first_sector}");
        }
    }
}

#[test]
fn measured_zones_and_skews_are_used_as_they_are() {
    let zone = |cylinders, sectors_per_track| MeasuredZone {
        cylinders,
        sectors_per_track,
        track_skew_sectors: Some(0),
        cylinder_skew_sectors: Some(0),
    };
    let disk = HardDiskDescription {
        capacity_bytes: 512 * 4 * (100 * 300 + 100 * 200),
        heads: 4,
        tracks_per_surface: 200,
        average_bytes_per_track: None,
        zones: vec![zone(100, 300), zone(100, 200)],
        seek: None,
        measured_seek: Some(super::MeasuredSeeks {
            rows: vec![
                super::SeekRow {
                    tracks: 1,
                    time_ms: 0.5,
                },
                super::SeekRow {
                    tracks: 199,
                    time_ms: 4.0,
                },
            ],
            write_settle_ms: 0.2,
        }),
        ..savvio()
    };
    assert_eq!(disk.check("hard_disk"), []);
    let mechanics = Mechanics::new(&disk).unwrap();
    let inner = mechanics.geometry.locate(4 * 100 * 300);
    assert_eq!(inner.cylinder, 100);
    assert_eq!(mechanics.geometry.left_on_track(&inner), 200);
    let second_head = mechanics.geometry.locate(300);
    assert_eq!(
        (second_head.head, mechanics.geometry.angle(&second_head)),
        (1, 0)
    );
    let ms = |direction, tracks| {
        let base = mechanics.seek_base(direction);
        mechanics.rotation.ns_of(mechanics.seek_units(base, tracks)) as f64 / 1e6
    };
    assert!((ms(Direction::Read, 1) - 0.5).abs() < 1e-5);
    assert!((ms(Direction::Read, 100) - 2.25).abs() < 1e-5);
    assert!((ms(Direction::Write, 199) - 4.2).abs() < 1e-5);
}
