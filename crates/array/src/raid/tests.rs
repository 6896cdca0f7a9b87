use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parity::{Columns, Verdict, coefficient, judge, recover};
use super::*;
use crate::payload::{Bytes, Payload};

const SECTOR: usize = crate::SECTOR_BYTES as usize;

fn levels() -> Vec<(Level, u16)> {
    let mut levels = Vec::new();
    for members in 1..12 {
        for level in [
            Level::Linear,
            Level::Raid0,
            Level::Raid1,
            Level::Raid10,
            Level::Raid5,
            Level::Raid6,
        ] {
            let odd_pairs = level == Level::Raid10 && members % 2 == 1;
            if members >= Striped::minimum_members(level) && !odd_pairs {
                levels.push((level, members));
            }
        }
    }
    levels
}

#[test]
fn no_two_columns_overlap_and_none_of_a_stripe_share_a_disk() {
    for (level, members) in levels() {
        let (member_sectors, chunk) = (64 + 5, 8);
        let layout = Layout::Striped(Striped::new(level, members, member_sectors, chunk));
        let geometry = *layout.geometry();
        let mut used = BTreeSet::new();
        for stripe in 0..geometry.stripes {
            let mut disks = BTreeSet::new();
            let mut domains = BTreeSet::new();
            for column in 0..geometry.columns() {
                let place = layout.place(stripe, column);
                assert!(place.member < members);
                assert!(disks.insert(place.member), "{level:?} {members}");
                domains.insert(layout.domain(place.member));
                for row in 0..geometry.chunk_sectors {
                    assert!(place.first_sector + row < member_sectors);
                    let fresh = used.insert((place.member, place.first_sector + row));
                    assert!(fresh, "{level:?} of {members} uses a sector twice");
                }
            }
            assert_eq!(domains.len(), 1);
        }
    }
}

#[test]
fn every_sector_of_a_group_has_a_spot_of_its_own() {
    for (level, members) in levels() {
        let layout = Striped::new(level, members, 69, 8);
        let geometry = *layout.geometry();
        let mut spots = BTreeSet::new();
        for sector in 0..geometry.capacity_sectors() {
            let spot = geometry.locate(sector);
            assert!(spot.stripe < geometry.stripes && spot.column < geometry.data_columns);
            assert!(spot.row < geometry.chunk_sectors);
            assert!(spots.insert((spot.stripe, spot.column, spot.row)));
        }
    }
}

#[test]
fn capacities_are_those_of_the_book() {
    let capacity = |level, members| {
        Striped::new(level, members, 800, 8)
            .geometry()
            .capacity_sectors()
    };
    assert_eq!(capacity(Level::Linear, 3), 2400);
    assert_eq!(capacity(Level::Raid0, 5), 4000);
    assert_eq!(capacity(Level::Raid1, 3), 800);
    assert_eq!(capacity(Level::Raid10, 8), 3200);
    assert_eq!(capacity(Level::Raid5, 5), 3200);
    assert_eq!(capacity(Level::Raid6, 10), 6400);
}

#[test]
fn parity_rotates_evenly() {
    for (level, parities) in [(Level::Raid5, 1), (Level::Raid6, 2)] {
        let members = 7;
        let layout = Striped::new(level, members, 7 * 8, 8);
        let mut held = vec![0; usize::from(members)];
        for stripe in 0..7 {
            for parity in 0..parities {
                let place = layout.place(stripe, members - parities + parity);
                held[usize::from(place.member)] += 1;
            }
        }
        assert!(held.iter().all(|&held| held == parities));
    }
}

fn random_stripe(geometry: &Geometry, sectors: u32, random: &mut Xoshiro256PlusPlus) -> Vec<Bytes> {
    let mut columns: Vec<Bytes> = (0..geometry.columns())
        .map(|_| {
            let mut bytes = vec![0; sectors as usize * SECTOR];
            random.fill(&mut bytes[..]);
            Bytes::new(bytes)
        })
        .collect();
    match geometry.protection {
        Protection::None => {}
        Protection::Copies(_) => {
            let first = columns[0].clone();
            columns.fill(first);
        }
        Protection::Parity(parities) => {
            let (data, redundant) = columns.split_at_mut(usize::from(geometry.data_columns));
            for parity in 0..parities {
                let target = &mut redundant[usize::from(parity)];
                *target = Bytes::zeroed(sectors);
                for (column, payload) in data.iter().enumerate() {
                    target.multiply_add(coefficient(parity, column as u16), payload);
                }
            }
        }
    }
    columns
}

fn geometries() -> Vec<Geometry> {
    let shapes = [
        (1, Protection::Copies(2)),
        (1, Protection::Copies(3)),
        (2, Protection::Parity(1)),
        (4, Protection::Parity(1)),
        (2, Protection::Parity(2)),
        (8, Protection::Parity(2)),
        (30, Protection::Parity(2)),
    ];
    shapes
        .map(|(data_columns, protection)| Geometry {
            data_columns,
            protection,
            chunk_sectors: 8,
            stripes: 1,
        })
        .to_vec()
}

#[test]
fn any_columns_the_protection_bears_are_recovered() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    for geometry in geometries() {
        let width = geometry.columns();
        let sectors = 2;
        let whole = random_stripe(&geometry, sectors, &mut random);
        for x in 0..width {
            for y in x..width {
                let lost: Columns = [x, y].into_iter().collect();
                let mut damaged = whole.clone();
                for column in lost.iter() {
                    random.fill(damaged[usize::from(column)].as_mut_slice());
                }
                let before = damaged.clone();
                let recovered = recover(&geometry, &mut damaged, lost, sectors);
                assert_eq!(recovered, lost.count() <= geometry.tolerance());
                let expected = if recovered { &whole } else { &before };
                assert_eq!(&damaged, expected, "{geometry:?} {x} {y}");
            }
        }
    }
}

#[test]
fn a_wrong_column_is_found_where_it_can_be() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for geometry in geometries() {
        let mut columns = random_stripe(&geometry, 1, &mut random);
        let slices = |columns: &[Bytes]| -> Verdict {
            let slices: Vec<&[u8]> = columns.iter().map(Bytes::as_slice).collect();
            judge(&geometry, &slices)
        };
        assert_eq!(slices(&columns), Verdict::Sound);
        for column in 0..geometry.columns() {
            let sound = columns[usize::from(column)].clone();
            columns[usize::from(column)].as_mut_slice()[17] ^= 0x40;
            columns[usize::from(column)].as_mut_slice()[401] ^= 0x03;
            let expected = if geometry.tolerance() > 1 {
                Verdict::Wrong(column)
            } else {
                Verdict::Unclear
            };
            assert_eq!(slices(&columns), expected, "{geometry:?} {column}");
            columns[usize::from(column)] = sound;
        }
    }
}
