//! Files on volumes with and without contents, against files in memory.

use super::{
    ArrayHost, FilePayload, IdealVolumes, IdealVolumesSettings, VolumeFile, VolumeFiles,
    VolumeModel,
};
use crate::payload::Bytes;
use crate::{HostCompletion, HostRequest, VolumeId};
use proptest::prelude::*;
use runtime::{Buffer, Directory, File, IoFailure, Persistence, Runtime};
use std::cell::RefCell;
use std::rc::Rc;

const READ_NS: u64 = 5_000_000;
const WRITE_NS: u64 = 1_000_000;
const BLOCK: usize = 4096;

fn ideal<P: FilePayload>(sectors: u64) -> IdealVolumes<P> {
    IdealVolumes::new(IdealVolumesSettings {
        capacities_sectors: vec![sectors],
        read_ns: READ_NS,
        write_ns: WRITE_NS,
    })
}

/// Notes every request before it goes on.
struct Noting<P> {
    below: IdealVolumes<P>,
    seen: Rc<RefCell<Vec<Seen>>>,
}

/// Time, operation, first sector, sectors.
type Seen = (u64, String, u64, u32);

impl<P: FilePayload> VolumeModel<P> for Noting<P> {
    fn capacity_sectors(&self, volume: VolumeId) -> Option<u64> {
        self.below.capacity_sectors(volume)
    }

    fn submit(&mut self, now_ns: u64, request: HostRequest<P>) {
        let operation = format!("{:?}", request.operation);
        let seen = (now_ns, operation, request.first_sector, request.sectors);
        self.seen.borrow_mut().push(seen);
        self.below.submit(now_ns, request);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.below.next_event_ns()
    }

    fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>) {
        self.below.advance_to(now_ns, completed);
    }

    fn lay_out(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: crate::FirstWrite,
    ) -> Result<(), crate::HostError> {
        self.below
            .lay_out(volume, first_sector, sectors, first_write)
    }
}

#[derive(Debug, Clone)]
enum Act {
    Write { file: u8, block: u8, blocks: u8 },
    Read { file: u8, block: u8, blocks: u8 },
    Resize { file: u8, blocks: u8 },
    Replace { from: u8, to: u8 },
    Remove { file: u8 },
}

fn act() -> impl Strategy<Value = Act> {
    let file = || 0_u8..3;
    prop_oneof![
        4 => (file(), 0_u8..200, 1_u8..100)
            .prop_map(|(file, block, blocks)| Act::Write { file, block, blocks }),
        4 => (file(), 0_u8..200, 1_u8..200)
            .prop_map(|(file, block, blocks)| Act::Read { file, block, blocks }),
        1 => (file(), 0_u8..255).prop_map(|(file, blocks)| Act::Resize { file, blocks }),
        1 => (file(), file()).prop_map(|(from, to)| Act::Replace { from, to }),
        1 => file().prop_map(|file| Act::Remove { file }),
    ]
}

/// Carries the acts out; with contents, checks them against bytes in memory. Gives the requests.
fn carry_out<P: FilePayload>(acts: &[Act]) -> Vec<Seen> {
    let runtime = Runtime::virtual_clock();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let model = Noting {
        below: ideal::<P>(64 * 2048),
        seen: Rc::clone(&seen),
    };
    let host = ArrayHost::new(&runtime.handle(), model);
    let volume = host.volume(VolumeId(0)).unwrap();
    let files = VolumeFiles::new(volume).directory("files");
    let acts = acts.to_vec();
    runtime.block_on(async move {
        let mut model: [Option<Vec<u8>>; 3] = [None, None, None];
        for (number, act) in acts.iter().enumerate() {
            step(&files, &mut model, act, number as u8).await;
        }
    });
    assert_eq!(host.in_flight(), 0);
    seen.take()
}

async fn step<P: FilePayload, M: VolumeModel<P>>(
    files: &VolumeFiles<P, M>,
    model: &mut [Option<Vec<u8>>; 3],
    act: &Act,
    number: u8,
) {
    let name = |file: u8| format!("file{file}");
    match *act {
        Act::Write {
            file,
            block,
            blocks,
        } => {
            let open = open_or_create(files, &name(file)).await;
            let mut buffer = Buffer::zeroed(usize::from(blocks) * BLOCK);
            buffer.fill(number | 1);
            let (from, length) = (usize::from(block) * BLOCK, buffer.len());
            let at = from as u64;
            let written = open.write(at, Rc::new(buffer), Persistence::Durable).await;
            assert_eq!(written, Ok(()));
            let bytes = model[usize::from(file)].get_or_insert_default();
            bytes.resize(bytes.len().max(from + length), 0);
            bytes[from..from + length].fill(number | 1);
        }
        Act::Read {
            file,
            block,
            blocks,
        } => {
            let Some(bytes) = &model[usize::from(file)] else {
                let missing = files.open(&name(file)).await.err().unwrap();
                return assert_eq!(missing.failure, IoFailure::NotFound);
            };
            let open = files.open(&name(file)).await.unwrap();
            let from = usize::from(block) * BLOCK;
            let buffer = Buffer::zeroed(usize::from(blocks) * BLOCK);
            let expected = bytes.get(from..from + buffer.len());
            let (buffer, result) = open.read(from as u64, buffer).await;
            assert_eq!(result.is_ok(), expected.is_some());
            if let (Some(expected), true) = (expected, P::CARRIES_BYTES) {
                assert!(*buffer == *expected, "wrong bytes in file {file}");
            }
        }
        Act::Resize { file, blocks } => {
            let open = open_or_create(files, &name(file)).await;
            let length = usize::from(blocks) * BLOCK;
            assert_eq!(open.set_size_bytes(length as u64).await, Ok(()));
            let bytes = model[usize::from(file)].get_or_insert_default();
            bytes.resize(length, 0);
        }
        Act::Replace { from, to } if from != to && model[usize::from(from)].is_some() => {
            files.rename(&name(from), &name(to)).await.unwrap();
            model[usize::from(to)] = model[usize::from(from)].take();
        }
        Act::Replace { .. } => {}
        Act::Remove { file } => {
            let removed = files.remove(&name(file)).await;
            assert_eq!(removed.is_ok(), model[usize::from(file)].take().is_some());
        }
    }
}

async fn open_or_create<P: FilePayload, M: VolumeModel<P>>(
    files: &VolumeFiles<P, M>,
    name: &str,
) -> VolumeFile<P, M> {
    match files.open(name).await {
        Ok(file) => file,
        Err(_) => files.create(name).await.unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn files_hold_what_was_written_and_lie_where_they_lie_without_contents(
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let with_bytes = carry_out::<Bytes>(&acts);
        let without = carry_out::<()>(&acts);
        prop_assert_eq!(with_bytes, without);
    }
}

#[test]
fn requests_take_their_time_together_and_slots_are_used_again() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let host = ArrayHost::new(&handle, ideal::<()>(1 << 20));
    let volume = host.volume(VolumeId(0)).unwrap();
    assert!(host.volume(VolumeId(1)).is_none());
    let clock = handle.clone();
    runtime.block_on(async move {
        for round in 1..=100 {
            let tasks: Vec<_> = (0..10)
                .map(|task| {
                    let volume = volume.clone();
                    clock.spawn(async move { volume.read(task * 64, 64).await })
                })
                .collect();
            for task in tasks {
                assert_eq!(task.await, Ok(()));
            }
            assert_eq!(clock.now_ns(), round * READ_NS, "ten reads at a time");
        }
    });
    assert_eq!(host.requests(), 1_000);
    assert_eq!(host.in_flight(), 0);
}

#[test]
fn a_request_that_nobody_waits_for_any_more_frees_its_slot() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let host = ArrayHost::new(&handle, ideal::<()>(1 << 20));
    let volume = host.volume(VolumeId(0)).unwrap();
    let clock = handle.clone();
    runtime.block_on(async move {
        {
            let mut read = std::pin::pin!(volume.read(0, 8));
            let once = std::future::poll_fn(|context| {
                assert!(read.as_mut().poll(context).is_pending());
                std::task::Poll::Ready(())
            });
            once.await;
        }
        clock.sleep_ns(2 * READ_NS).await;
        assert_eq!(volume.write(0, 8, ()).await, Ok(()));
        assert_eq!(volume.flush().await, Ok(()));
    });
    assert_eq!(host.in_flight(), 0);
}

#[test]
fn nothing_of_an_array_outlives_its_runtime() {
    let seen = Rc::default();
    let model = Noting::<()> {
        below: ideal(1 << 20),
        seen: Rc::clone(&seen),
    };
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let host = ArrayHost::new(&handle, model);
    let root = VolumeFiles::new(host.volume(VolumeId(0)).unwrap());
    runtime.block_on(async move {
        let directory = root.directory("one");
        let file = directory.lay_out("kept", 1 << 20).await.unwrap();
        // Still reading when all is over.
        handle.spawn(async move { file.read(0, Buffer::zeroed(BLOCK)).await });
        handle.yield_now().await;
    });
    drop((host, runtime));
    assert_eq!(Rc::strong_count(&seen), 1, "the model is still there");
}
