use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::disk::{DiskDescription, DiskModel};
use crate::payload::Bytes;
use crate::{Direction, SECTOR_BYTES};

fn disk(sectors: u64, seed: u64) -> DiskModel {
    let text = format!(
        "title = 'test'\n[ideal]\ncapacity_bytes = {}\nservice_us = 100.0\n\
         distribution = 'exponential'\nservers = 1\n",
        sectors * SECTOR_BYTES
    );
    let description: DiskDescription = toml::from_str(&text).unwrap();
    DiskModel::new(&description, seed).unwrap()
}

fn backend(settings: &str, disk_sectors: u64, seed: u64) -> Backend<Bytes> {
    let settings: BackendSettings = toml::from_str(settings).unwrap();
    let disks = (0..settings.disk_names().len() as u64)
        .map(|number| disk(disk_sectors, seed ^ number))
        .collect();
    Backend::new(&settings, disks).unwrap()
}

fn run(backend: &mut Backend<Bytes>, now_ns: &mut u64) {
    while let Some(next_ns) = backend.next_event_ns() {
        *now_ns = next_ns;
        backend.advance_one(next_ns);
    }
    backend.check_laws().unwrap();
}

#[test]
fn what_was_written_is_read_over_all_disks() {
    for (level, chunk) in [("linear", ""), ("raid0", "chunk_kib = 4")] {
        let settings =
            format!("[[disk_group]]\nname='g'\ndisk='d'\ndisks=3\nlevel='{level}'\n{chunk}");
        for seed in 0..20 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut backend = backend(&settings, 64, seed);
            let capacity = backend.group(GroupId(0)).capacity_sectors;
            assert_eq!(capacity, 192);
            let mut model = vec![0; (capacity * SECTOR_BYTES) as usize];
            let mut now_ns = 0;
            for id in 0..100 {
                let first_sector = random.random_range(0..capacity);
                let sectors = random.random_range(1..=capacity - first_sector);
                let span = (first_sector * SECTOR_BYTES) as usize
                    ..((first_sector + sectors) * SECTOR_BYTES) as usize;
                let write = random.random_bool(0.5);
                let mut payload = Bytes::default();
                if write {
                    random.fill(&mut model[span.clone()]);
                    payload = Bytes::new(model[span.clone()].to_vec());
                }
                let request = GroupRequest {
                    owner: Owner {
                        room: OwnerRoom::Front,
                        id,
                    },
                    group: GroupId(0),
                    direction: if write {
                        Direction::Write
                    } else {
                        Direction::Read
                    },
                    first_sector,
                    sectors: sectors as u32,
                    class: IoClass::HostRead,
                    payload,
                };
                backend.submit(now_ns, request);
                run(&mut backend, &mut now_ns);
                let done = backend.pop_done().unwrap();
                assert_eq!((done.owner.id, done.result), (id, Ok(())), "seed {seed}");
                if !write {
                    assert_eq!(done.payload.as_slice(), &model[span], "seed {seed} {level}");
                }
                assert_eq!(backend.in_flight(), 0);
            }
        }
    }
}
