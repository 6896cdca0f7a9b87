//! Random bytes on the storage before it is read: what was never written is answered without a disk, and
//! what compresses by less of one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use runtime::{
    Buffer, File, Handle, HostFile, IoError, Persistence, Runtime, SharedBuffer, is_zero,
};
use workload::random::SeededRng;

/// What one write takes.
const WRITE_BYTES: u64 = 1 << 20;
/// Writes at a time: enough for a stream.
const OUTSTANDING: usize = 8;
/// Blocks that are looked at on a device that is only read, and their size.
const SAMPLES: u64 = 200;
const SAMPLE_BYTES: u64 = 4096;
/// Streams of the seed, beside those of requests.
const LAY_OUT_STREAM: u64 = 0x1a70;
const SAMPLE_STREAM: u64 = 0x5a3b;

/// A file or device, and where in it the probes begin.
#[derive(Clone)]
pub(super) struct Area {
    pub(super) file: HostFile,
    pub(super) first_byte: u64,
}

/// A lay-out under way.
pub(super) struct LayOut(Rc<State>);

struct State {
    area: Area,
    span_bytes: u64,
    seed: u64,
    next_byte: Cell<u64>,
    done_bytes: Cell<u64>,
    stopping: Cell<bool>,
    is_done: Cell<bool>,
    failure: RefCell<Option<IoError>>,
}

impl LayOut {
    /// Begins to write the first `span_bytes` of an area, whole MiB. What is a file `grows` to that size first.
    pub(super) fn begin(
        handle: &Handle,
        area: &Area,
        span_bytes: u64,
        grows: bool,
        seed: u64,
    ) -> Self {
        assert!(
            span_bytes.is_multiple_of(WRITE_BYTES),
            "whole MiB are laid out, not {span_bytes} bytes"
        );
        let state = Rc::new(State {
            area: area.clone(),
            span_bytes,
            seed,
            next_byte: Cell::new(0),
            done_bytes: Cell::new(0),
            stopping: Cell::new(false),
            is_done: Cell::new(false),
            failure: RefCell::new(None),
        });
        let (own, spawner) = (Rc::clone(&state), handle.clone());
        handle.spawn_alone(async move {
            if let Err(error) = own.all(&spawner, grows).await {
                own.failure.borrow_mut().get_or_insert(error);
            }
            own.is_done.set(true);
        });
        Self(state)
    }

    /// Whether nothing more is written.
    pub(super) fn is_done(&self) -> bool {
        self.0.is_done.get()
    }

    /// Bytes that are written.
    pub(super) fn done_bytes(&self) -> u64 {
        self.0.done_bytes.get()
    }

    /// Writes that are under way end, and no more begin.
    pub(super) fn stop(&self) {
        self.0.stopping.set(true);
    }

    /// What failed, once it is done.
    pub(super) fn failure(&self) -> Option<IoError> {
        self.0.failure.borrow_mut().take()
    }
}

impl State {
    async fn all(self: &Rc<Self>, handle: &Handle, grows: bool) -> Result<(), IoError> {
        if grows {
            self.area.file.set_size_bytes(self.span_bytes).await?;
        }
        let writers: Vec<_> = (0..OUTSTANDING)
            .map(|_| handle.spawn(Rc::clone(self).write()))
            .collect();
        for writer in writers {
            writer.await?;
        }
        match self.stopping.get() {
            true => Ok(()),
            false => self.area.file.sync().await,
        }
    }

    /// Writes one MiB after the other that no one else has begun.
    async fn write(self: Rc<Self>) -> Result<(), IoError> {
        let mut buffer = SharedBuffer::new(Buffer::zeroed(WRITE_BYTES as usize));
        while !self.stopping.get() && self.next_byte.get() < self.span_bytes {
            let at = self.next_byte.get();
            self.next_byte.set(at + WRITE_BYTES);
            fill(&mut buffer, self.seed ^ LAY_OUT_STREAM, at);
            let (file, place) = (&self.area.file, self.area.first_byte + at);
            let written = file.write(place, SharedBuffer::clone(&buffer), Persistence::Volatile);
            if let Err(error) = written.await {
                self.stopping.set(true);
                return Err(error);
            }
            self.done_bytes.set(self.done_bytes.get() + WRITE_BYTES);
        }
        Ok(())
    }
}

/// Fills a buffer with bytes that no storage compresses or takes for one another; a new one where the last
/// request still holds it.
pub(super) fn fill(buffer: &mut SharedBuffer, seed: u64, stream: u64) {
    let mut random = SeededRng::new(seed, stream);
    if Rc::get_mut(buffer).is_none() {
        *buffer = SharedBuffer::new(Buffer::of_sectors(buffer.len()));
    }
    if let Some(bytes) = Rc::get_mut(buffer) {
        for word in bytes.as_chunks_mut::<8>().0 {
            *word = random.bits().to_le_bytes();
        }
    }
}

/// The share of sampled blocks that hold zeros only.
///
/// # Errors
/// A read failed.
pub(super) fn zero_share(
    runtime: &Runtime,
    area: &Area,
    span_bytes: u64,
    seed: u64,
) -> Result<f64, IoError> {
    let area = area.clone();
    runtime.block_on(async move {
        let mut random = SeededRng::new(seed, SAMPLE_STREAM);
        let mut zeros = 0;
        let mut buffer = Buffer::zeroed(SAMPLE_BYTES as usize);
        for _ in 0..SAMPLES {
            let at = random.below(span_bytes / SAMPLE_BYTES) * SAMPLE_BYTES;
            let result;
            (buffer, result) = area.file.read(area.first_byte + at, buffer).await;
            result?;
            zeros += u64::from(is_zero(&buffer));
        }
        Ok(zeros as f64 / SAMPLES as f64)
    })
}
