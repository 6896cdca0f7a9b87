use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parity::{Columns, Verdict, coefficient, judge, recover};
use super::vraid::{ProtectionLevel, Vraid};
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

fn virtual_disks(disks: u16, stroke_fraction: f64, seed: u64) -> Vec<Layout> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut group =
        vraid::DiskGroup::new(disks, 64 * 40, 64, stroke_fraction, ProtectionLevel::None);
    let mut layouts = Vec::new();
    loop {
        let vraid = [Vraid::Vraid0, Vraid::Vraid1, Vraid::Vraid5][random.random_range(0..3)];
        let sectors = random.random_range(1..4000);
        match group.create(vraid, sectors, 8) {
            Some(layout) => {
                assert!(layout.geometry().capacity_sectors() >= sectors);
                layouts.push(Layout::Virtual(layout));
            }
            None => return layouts,
        }
    }
}

#[test]
fn virtual_disks_share_a_disk_group_without_overlap() {
    for disks in 6..30 {
        let sets = vraid::storage_sets(disks);
        assert!(sets.iter().all(|&(_, size)| (6..=11).contains(&size)));
        let set_of = |member: u16| {
            let holds = |&(first, size): &(u16, u16)| first <= member && member < first + size;
            sets.iter().position(holds).unwrap()
        };
        let mut used = BTreeSet::new();
        let mut members_used = BTreeSet::new();
        for layout in virtual_disks(disks, [0.0, 1.0, 0.6][usize::from(disks) % 3], 5) {
            let geometry = *layout.geometry();
            for stripe in 0..geometry.stripes {
                let places: Vec<Place> = (0..geometry.columns())
                    .map(|column| layout.place(stripe, column))
                    .collect();
                let members: BTreeSet<u16> = places.iter().map(|place| place.member).collect();
                assert_eq!(members.len(), places.len(), "a stripe shares a disk");
                let domain = |&member: &u16| layout.domain(member);
                assert_eq!(members.iter().map(domain).collect::<BTreeSet<_>>().len(), 1);
                assert_eq!(
                    members
                        .iter()
                        .map(|&m| set_of(m))
                        .collect::<BTreeSet<_>>()
                        .len(),
                    1
                );
                members_used.extend(members);
                for place in places {
                    assert!(place.first_sector + 8 <= 64 * 40);
                    assert!(used.insert((place.member, place.first_sector)), "overlap");
                }
            }
        }
        assert_eq!(members_used.len(), usize::from(disks));
    }
}

#[test]
fn segments_are_packed_or_lie_all_over_the_stroke() {
    let last = |stroke_fraction: f64| {
        let mut group =
            vraid::DiskGroup::new(8, 64 * 1000, 64, stroke_fraction, ProtectionLevel::None);
        let layout = group.create(Vraid::Vraid5, 4 * 64 * 100, 8).unwrap();
        let stripes = 0..layout.geometry().stripes;
        let addresses = stripes.flat_map(|stripe| (0..5).map(move |column| (stripe, column)));
        let mut addresses: Vec<u64> = addresses
            .map(|(stripe, column)| layout.place(stripe, column).first_sector / 64)
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        let widest = addresses.windows(2).map(|pair| pair[1] - pair[0]).max();
        (addresses.last().copied().unwrap(), widest.unwrap())
    };
    let (packed, gap) = last(0.0);
    assert!(packed <= 63 && gap == 1, "{packed} {gap}");
    let (half, gap) = last(0.5);
    assert!((450..500).contains(&half) && gap < 20, "{half} {gap}");
    let (whole, gap) = last(1.0);
    assert!((900..1000).contains(&whole) && gap < 60, "{whole} {gap}");
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
