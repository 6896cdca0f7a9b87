use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::disk::{DiskDescription, DiskModel};
use crate::payload::{Bytes, Payload as _};
use crate::{Direction, SECTOR_BYTES};

fn disk(sectors: u64, seed: u64) -> DiskModel {
    let text = format!(
        "title = 'test'\n[ideal]\ncapacity_bytes = {}\nservice_us = 100.0\n\
         distribution = 'exponential'\nservers = 1\n",
        sectors * SECTOR_BYTES
    );
    let description: DiskDescription = config::from_toml(&text).unwrap();
    DiskModel::new(&description, seed).unwrap()
}

fn backend(settings: &str, disk_sectors: u64, seed: u64) -> Backend<Bytes> {
    let settings: BackendSettings = config::from_toml(settings).unwrap();
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
    backend.check_invariants().unwrap();
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
                    owner: id,
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
                assert_eq!((done.owner, done.result), (id, Ok(())), "seed {seed}");
                if !write {
                    assert_eq!(done.payload.as_slice(), &model[span], "seed {seed} {level}");
                }
                assert_eq!(backend.in_flight(), 0);
            }
        }
    }
}

fn broken_rules(settings: &str) -> Vec<(String, String)> {
    let settings: BackendSettings = config::from_toml(settings).unwrap();
    let broken_rules = settings.check("array");
    broken_rules
        .into_iter()
        .map(|diagnostic| (diagnostic.path, diagnostic.message))
        .collect()
}

fn group(text: &str) -> String {
    format!("[[disk_group]]\nname='a'\ndisk='d'\n{text}\n")
}

fn assert_refused(settings: &str, path: &str) {
    let broken_rules = broken_rules(settings);
    let paths: Vec<&str> = broken_rules.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, [path], "{settings}");
    assert!(broken_rules[0].1.ends_with('.'), "{broken_rules:?}");
}

#[test]
fn groups_that_cannot_exist_are_refused_with_their_keys() {
    let cases = [
        (
            group("disks=3\nlevel='raid6'\nchunk_kib=64"),
            "array.disk_group.0.disks",
        ),
        (
            group("disks=2\nlevel='raid5'\nchunk_kib=64"),
            "array.disk_group.0.disks",
        ),
        (group("disks=1\nlevel='raid1'"), "array.disk_group.0.disks"),
        (group("disks=0\nlevel='linear'"), "array.disk_group.0.disks"),
        (
            group("disks=33\nlevel='raid6'\nchunk_kib=64"),
            "array.disk_group.0.disks",
        ),
        (
            group("disks=5\nlevel='raid10'\nchunk_kib=64"),
            "array.disk_group.0.disks",
        ),
        (
            group("disks=5\nlevel='raid5'\nchunk_kib=48"),
            "array.disk_group.0.chunk_kib",
        ),
        (
            group("disks=5\nlevel='raid5'\nchunk_kib=0"),
            "array.disk_group.0.chunk_kib",
        ),
        (
            group("disks=5\nlevel='raid5'"),
            "array.disk_group.0.chunk_kib",
        ),
        (
            group("disks=2\nlevel='raid1'\nchunk_kib=64"),
            "array.disk_group.0.chunk_kib",
        ),
    ];
    for (settings, path) in cases {
        assert_refused(&settings, path);
    }
    assert!(broken_rules(&group("disks=4\nlevel='raid6'\nchunk_kib=64")).is_empty());
}

#[test]
fn settings_that_break_other_rules_are_refused_with_their_keys() {
    let cases = [
        (
            group("disks=8\nlevel='vraid'\nchunk_kib=128"),
            "array.disk_group.0.virtual_disk",
        ),
        (
            group(
                "disks=5\nlevel='vraid'\nchunk_kib=128\n[[disk_group.virtual_disk]]\n\
                   name='v'\nlevel='vraid5'\nsize_gib=1",
            ),
            "array.disk_group.0.disks",
        ),
        (
            group(
                "disks=8\nlevel='vraid'\nchunk_kib=4096\n[[disk_group.virtual_disk]]\n\
                   name='v'\nlevel='vraid5'\nsize_gib=1",
            ),
            "array.disk_group.0.chunk_kib",
        ),
        (
            group("disks=3\nlevel='linear'") + &group("disks=3\nlevel='linear'"),
            "array.disk_group.1.name",
        ),
        ("disk_group = []".into(), "array.disk_group"),
    ];
    for (settings, path) in cases {
        assert_refused(&settings, path);
    }
}

#[test]
fn numbers_out_of_bounds_are_refused_at_their_line() {
    for (settings, words) in [
        ("[rebuild]\nrate_mb_per_s = 0", "a number from 0.001"),
        ("[scrub]\nrate_mb_per_s = inf", "a number from 0.001"),
        ("[dispatch]\nqueue_limit = 0", "from 1 to 65536"),
        ("[[disk_group.virtual_disk]]\nsize_gib = nan", "from 1e-6"),
    ] {
        let disks = group("disks=3\nlevel='linear'");
        let text = match settings.contains("disk_group") {
            true => format!("{disks}{settings}\nname='v'\nlevel='vraid5'"),
            false => format!("{settings}\n{disks}"),
        };
        let error = config::from_toml::<BackendSettings>(&text).unwrap_err();
        assert_eq!(error.diagnostics.len(), 1, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let mut settings: BackendSettings =
        config::from_toml(&group("disks=3\nlevel='linear'")).unwrap();
    settings.policy.dispatch.queue_limit = 0;
    assert_eq!(
        settings.check("array")[0].path,
        "array.dispatch.queue_limit"
    );
}

#[test]
fn virtual_disks_larger_than_their_disks_are_refused() {
    let settings = "[[disk_group]]\nname='a'\ndisk='d'\ndisks=8\nlevel='vraid'\nchunk_kib=128\n\
                    [[disk_group.virtual_disk]]\nname='v'\nlevel='vraid1'\nsize_gib=1\n";
    let settings: BackendSettings = config::from_toml(settings).unwrap();
    let disks = |sectors| (0..8).map(|seed| disk(sectors, seed)).collect();
    // 1 GiB twice over eight disks: 256 MiB each.
    let enough = 256 * 2048;
    assert!(Backend::<()>::new(&settings, disks(enough)).is_ok());
    let refused = Backend::<()>::new(&settings, disks(enough - 1)).unwrap_err();
    let BackendError::Settings { broken_rules } = refused else {
        panic!("{refused}");
    };
    assert_eq!(broken_rules[0].path, "disk_group.0.virtual_disk.0.size_gib");
    let refused = Backend::<()>::new(&settings, Vec::new()).unwrap_err();
    let counts = BackendError::Disks {
        needed: 8,
        given: 0,
    };
    assert_eq!(refused, counts);
}

#[test]
fn requests_beyond_the_end_and_to_lost_groups_get_an_error() {
    let settings = "[[disk_group]]\nname='a'\ndisk='d'\ndisks=3\nlevel='raid5'\nchunk_kib=4\n";
    let mut backend = backend(settings, 64, 1);
    let capacity_sectors = backend.group(GroupId(0)).capacity_sectors;
    let request = |first_sector, sectors| GroupRequest {
        owner: 1,
        group: GroupId(0),
        direction: Direction::Read,
        first_sector,
        sectors,
        class: IoClass::HostRead,
        payload: Bytes::default(),
    };
    for (first_sector, sectors) in [
        (capacity_sectors, 1),
        (capacity_sectors - 1, 2),
        (u64::MAX, 9),
    ] {
        backend.submit(0, request(first_sector, sectors));
        let expected = GroupError::OutOfRange {
            group: GroupId(0),
            first_sector,
            sectors,
            capacity_sectors,
        };
        assert_eq!(backend.pop_done().unwrap().result, Err(expected));
    }
    let group = GroupId(0);
    assert_eq!(backend.group(group).state, GroupState::Healthy);
    backend.submit(0, request(0, 1));
    backend.fail_disk(0, StationId(0));
    assert_eq!(backend.group(group).state, GroupState::Critical);
    backend.fail_disk(0, StationId(2));
    assert_eq!(backend.group(group).state, GroupState::Failed);
    run(&mut backend, &mut 0);
    assert_eq!(
        backend.pop_done().unwrap().result,
        Err(GroupError::GroupFailed { group })
    );
    backend.submit(0, request(0, 1));
    assert_eq!(
        backend.pop_done().unwrap().result,
        Err(GroupError::GroupFailed { group })
    );
    assert_eq!(backend.next_event_ns(), None);
    backend.check_invariants().unwrap();
}

/// Takes note of what is written to a disk, by extent, and whether it is kept as bytes.
#[derive(Debug)]
struct Noted(std::rc::Rc<std::cell::RefCell<Vec<(u64, bool)>>>);

impl crate::kept::DiskContents<Bytes> for Noted {
    fn read(&self, _: u64, sectors: u32) -> Bytes {
        Bytes::zeroed(sectors)
    }

    fn write(&mut self, first_sector: u64, _: u32, payload: &Bytes) {
        self.0
            .borrow_mut()
            .push((first_sector, !payload.is_zeros()));
    }

    fn extents(&self) -> Vec<(u64, u64)> {
        Vec::new()
    }

    fn discard(&mut self, _: u64, _: u64) {}

    fn clear(&mut self) {}
}

/// A rebuild that made bytes of what was never written would cost seconds for each gigabyte of nothing.
#[test]
fn what_was_never_written_is_rebuilt_without_bytes() {
    for (level, disks) in [("raid5", 4), ("raid6", 5), ("raid1", 2)] {
        let chunk = if level == "raid1" {
            ""
        } else {
            "chunk_kib = 4"
        };
        let settings = format!(
            "[[disk_group]]\nname='g'\ndisk='d'\ndisks={disks}\nlevel='{level}'\nspares=1\n{chunk}"
        );
        let mut backend = backend(&settings, 4096, 1);
        let written = std::rc::Rc::default();
        backend.keep(|_| Box::new(Noted(std::rc::Rc::clone(&written))));
        backend.fail_disk(0, StationId(0));
        run(&mut backend, &mut 0);
        assert_eq!(backend.group(GroupId(0)).state, GroupState::Healthy);
        let written = written.borrow();
        assert!(!written.is_empty(), "{level}");
        assert!(written.iter().all(|&(_, bytes)| !bytes), "{level}");
    }
}
