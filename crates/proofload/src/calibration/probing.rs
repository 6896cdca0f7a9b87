//! One probe on real storage: a closed loop, as the model of it ([`calibrate::model`]) has it. Every request
//! follows the end of another one, or waits until the limit of its job lets it go.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use calibrate::{Figures, Probe, Requests, Responses};
use runtime::buffer::BLOCK_BYTES;
use runtime::{Buffer, BufferArena, File, Handle, IoError, Persistence, SharedBuffer};
use workload::random::SeededRng;

use super::lay_out::{Area, fill};

/// A probe under way.
pub(super) struct Probing(Rc<State>);

struct State {
    handle: Handle,
    area: Area,
    jobs: Vec<RefCell<Job>>,
    begun_ns: u64,
    duration_ns: u64,
    /// Requests that may still be asked for: one loop for each of those outstanding.
    loops: Cell<usize>,
    stopping: Cell<bool>,
    failure: RefCell<Option<IoError>>,
}

struct Job {
    requests: Requests,
    responses: Responses,
    outstanding: u32,
}

/// What a request moves bytes from or to.
enum Memory {
    /// Slots of registered memory, each as large as a request.
    Slots(BufferArena),
    /// A buffer of the size of the last request.
    Heap(Buffer),
    /// Random bytes to be written, and where the next ones come from.
    Written(SharedBuffer, SeededRng),
}

impl Probing {
    /// Begins a probe. The same seed makes the same requests, in an order that the storage decides.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn begin(
        handle: &Handle,
        area: &Area,
        probe: &Probe,
        seed: u64,
    ) -> io::Result<Self> {
        let numbers = 0..probe.jobs.len();
        let jobs = numbers.clone().map(|number| {
            RefCell::new(Job {
                requests: Requests::new(probe, number, seed),
                responses: Responses::new(probe.duration_ns, seed ^ number as u64),
                outstanding: 0,
            })
        });
        let mut memories = Vec::new();
        for number in numbers {
            let job = &probe.jobs[number];
            let arena = Memory::arena(handle, job)?;
            for slot in 0..job.outstanding {
                let stream = (number as u64 + 1) << 32 | u64::from(slot);
                memories.push((number, Memory::new(job, arena.as_ref(), seed, stream)));
            }
        }
        let state = Rc::new(State {
            handle: handle.clone(),
            area: area.clone(),
            jobs: jobs.collect(),
            begun_ns: handle.now_ns(),
            duration_ns: probe.duration_ns,
            loops: Cell::new(memories.len()),
            stopping: Cell::new(false),
            failure: RefCell::new(None),
        });
        for (job, memory) in memories {
            handle.spawn_alone(Rc::clone(&state).run(job, memory));
        }
        Ok(Self(state))
    }

    /// Whether all requests have ended, and no more are made.
    pub(super) fn is_done(&self) -> bool {
        self.0.loops.get() == 0
    }

    /// Time since it began.
    pub(super) fn elapsed_ns(&self) -> u64 {
        self.0.now_ns()
    }

    /// Time until no more requests are made.
    pub(super) fn left_ns(&self) -> u64 {
        self.0.duration_ns.saturating_sub(self.0.now_ns())
    }

    /// Requests under way end, and no more are made.
    pub(super) fn stop(&self) {
        self.0.stopping.set(true);
    }

    /// The first request that failed.
    pub(super) fn failure(&self) -> Option<IoError> {
        self.0.failure.borrow_mut().take()
    }

    /// The figures of its jobs, once it is done; `None` when one of them ended no request.
    pub(super) fn figures(&self) -> Option<Vec<Figures>> {
        assert!(
            self.is_done(),
            "figures are those of requests that have ended"
        );
        let jobs = self.0.jobs.iter().map(|job| {
            let job = job.borrow();
            assert_eq!(job.outstanding, 0, "all requests have ended");
            job.responses.clone().figures()
        });
        jobs.collect()
    }
}

impl State {
    fn now_ns(&self) -> u64 {
        self.handle.now_ns() - self.begun_ns
    }

    /// Makes one request after the other.
    async fn run(self: Rc<Self>, job: usize, mut memory: Memory) {
        while !self.stopping.get() && self.now_ns() < self.duration_ns {
            let allowed_ns = self.jobs[job].borrow().requests.allowed_ns();
            if allowed_ns > self.now_ns() {
                // Another loop of the job may take the turn, so the limit is looked at again.
                let until_ns = self.begun_ns + allowed_ns.min(self.duration_ns);
                self.handle.sleep_until_ns(until_ns).await;
                continue;
            }
            let result;
            (memory, result) = self.request(job, memory).await;
            if let Err(error) = result {
                self.stopping.set(true);
                self.failure.borrow_mut().get_or_insert(error);
            }
        }
        self.loops.set(self.loops.get() - 1);
    }

    async fn request(&self, number: usize, mut memory: Memory) -> (Memory, Result<(), IoError>) {
        let (first_byte, bytes) = {
            let mut job = self.jobs[number].borrow_mut();
            job.outstanding += 1;
            assert!(
                job.outstanding <= job.requests.job().outstanding,
                "a job has no more requests outstanding than it says"
            );
            job.requests.next_request()
        };
        memory.prepare(bytes);
        let asked_ns = self.now_ns();
        let result;
        (memory, result) = memory.transfer(&self.area, first_byte).await;
        let ended_ns = self.now_ns();
        let mut job = self.jobs[number].borrow_mut();
        assert!(job.outstanding > 0, "a request that ends is outstanding");
        job.outstanding -= 1;
        if result.is_ok() {
            job.responses.add(asked_ns, ended_ns, bytes);
        }
        (memory, result)
    }
}

impl Memory {
    /// Slots for a job that reads requests of one size, in whole blocks.
    fn arena(handle: &Handle, job: &calibrate::Job) -> io::Result<Option<BufferArena>> {
        let (least, most) = (*job.sizes.start(), *job.sizes.end());
        let fits = least == most && most.is_multiple_of(BLOCK_BYTES as u64);
        match fits && !job.access.is_write() {
            true => BufferArena::new(handle, most as usize, job.outstanding).map(Some),
            false => Ok(None),
        }
    }

    fn new(job: &calibrate::Job, arena: Option<&BufferArena>, seed: u64, stream: u64) -> Self {
        let most = *job.sizes.end() as usize;
        if job.access.is_write() {
            let mut bytes = SharedBuffer::new(Buffer::of_sectors(most));
            fill(&mut bytes, seed, stream);
            return Self::Written(bytes, SeededRng::new(seed, stream));
        }
        match arena {
            Some(arena) => Self::Slots(arena.clone()),
            None => Self::Heap(Buffer::of_sectors(most)),
        }
    }

    /// Makes ready for a request of so many bytes: none of them is written twice.
    fn prepare(&mut self, bytes: u64) {
        let bytes = bytes as usize;
        match self {
            Self::Slots(_) => {}
            Self::Heap(buffer) => {
                if buffer.len() != bytes {
                    *buffer = Buffer::of_sectors(bytes);
                }
            }
            Self::Written(buffer, random) => {
                if buffer.len() != bytes || Rc::get_mut(buffer).is_none() {
                    *buffer = SharedBuffer::new(Buffer::of_sectors(bytes));
                    fill(buffer, random.bits(), 0);
                }
                if let Some(written) = Rc::get_mut(buffer) {
                    // A new beginning of each block keeps storage from taking it for an earlier one.
                    for block in written.chunks_mut(BLOCK_BYTES) {
                        block[..8].copy_from_slice(&random.bits().to_le_bytes());
                    }
                }
            }
        }
    }

    /// Moves the bytes.
    async fn transfer(self, area: &Area, first_byte: u64) -> (Self, Result<(), IoError>) {
        let (file, at) = (&area.file, area.first_byte + first_byte);
        match self {
            Self::Slots(arena) => {
                let (_, result) = file.read(at, arena.buffer()).await;
                (Self::Slots(arena), result)
            }
            Self::Heap(buffer) => {
                let (buffer, result) = file.read_sectors(at, buffer).await;
                (Self::Heap(buffer), result)
            }
            Self::Written(buffer, random) => {
                // As databases write, and the models of disks acknowledge: what is written stays written.
                let written = file.write(at, SharedBuffer::clone(&buffer), Persistence::Durable);
                let result = written.await;
                (Self::Written(buffer, random), result)
            }
        }
    }
}
