//! Linear volumes against flat arrays of bytes.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::testing::MemoryGroups;
use super::{LinearPool, LinearVolume, PoolRead, PoolWrite};
use crate::VolumeId;
use crate::group::{GroupId, IoClass};
use crate::payload::{Bytes, Payload};

const SECTORS: u64 = 64;

/// Two volumes that share a group, and one in another group.
fn volumes() -> Vec<LinearVolume> {
    [(0, 0), (0, SECTORS), (1, 8)]
        .into_iter()
        .enumerate()
        .map(|(number, (group, first_sector))| LinearVolume {
            volume: VolumeId(number as u16),
            group: GroupId(group),
            first_sector,
            sectors: SECTORS,
        })
        .collect()
}

fn run(
    pool: &mut LinearPool<Bytes>,
    groups: &mut MemoryGroups<Bytes>,
    random: &mut Xoshiro256PlusPlus,
) -> Bytes {
    loop {
        if let Some(completion) = groups.step(random) {
            pool.backend_done(completion);
        }
        if let Some(done) = pool.pop_done() {
            assert_eq!((done.owner_id, done.result), (7, Ok(())));
            assert_eq!((pool.in_flight(), groups.in_flight()), (0, 0));
            return done.payload;
        }
    }
}

#[test]
fn every_read_returns_what_was_written() {
    for seed in 0..100_u64 {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut groups = MemoryGroups::<Bytes>::new(&[(2 * SECTORS, 24), (SECTORS + 8, 16)]);
        let mut pool = LinearPool::new(&volumes());
        let mut model: Vec<Bytes> = (0..3).map(|_| Bytes::zeroed(SECTORS as u32)).collect();
        for step in 0..40_u8 {
            let volume = VolumeId(random.random_range(0..3));
            let first_sector = random.random_range(0..SECTORS);
            let sectors = random.random_range(1..=SECTORS - first_sector) as u32;
            let flat = &mut model[usize::from(volume.0)];
            let class = IoClass::HostRead;
            if random.random() {
                let payload = Bytes::new(vec![step + 1; sectors as usize * 512]);
                flat.overlay(first_sector as u32, &payload);
                let write = PoolWrite {
                    owner_id: 7,
                    volume,
                    class: IoClass::Destage,
                    sequential: false,
                };
                pool.write(0, write, &[(first_sector, sectors, payload)], &mut groups);
                run(&mut pool, &mut groups, random);
            } else {
                let read = PoolRead {
                    owner_id: 7,
                    volume,
                    first_sector,
                    sectors,
                    class,
                    sequential: false,
                };
                pool.read(0, read, &mut groups);
                let payload = run(&mut pool, &mut groups, random);
                let expected = flat.part(first_sector as u32, sectors);
                assert_eq!(payload.as_bytes(), expected.as_bytes(), "seed {seed}");
            }
        }
    }
}
