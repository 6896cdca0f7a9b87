//! The database of the toy: one file.

use std::cell::RefCell;
use std::rc::Rc;

use measure::sample::Recorder;
use runtime::{Directory, File, Handle, IoCause, IoDirection, IoEvent, IoObserver};
use workload::controller::host::{
    BuiltDatabase, DatabaseHost, DatabaseStatistics, LoadedDatabase, OnFound, OnStep,
    OpenedDatabase, Progress, VerifyReport,
};
use workload::failure::Failure;
use workload::random::SeededRng;

use super::{BLOCK_BYTES, FILE};

/// Where the file is, on a modelled array or on real storage.
pub struct ToyHost<D: Directory> {
    pub handle: Handle,
    pub directory: D,
    pub size: u64,
    pub seed: u64,
}

#[derive(Clone)]
pub struct ToyDatabase<F: File> {
    handle: Handle,
    file: F,
    size: u64,
    rng: Rc<RefCell<SeededRng>>,
    observer: Rc<dyn IoObserver>,
    recorder: Rc<RefCell<Recorder>>,
}

impl<F: File + Clone> LoadedDatabase for ToyDatabase<F> {
    async fn transact(&self, _: Option<u64>) -> Result<u32, Failure> {
        let block = self.rng.borrow_mut().below(self.size / BLOCK_BYTES);
        let issued_ns = self.handle.now_ns();
        let read = self.file.read_by_size(block * BLOCK_BYTES, BLOCK_BYTES);
        read.await
            .map_err(|error| Failure::of_io(&error, "reading a block"))?;
        let completed_ns = self.handle.now_ns();
        self.observer.completed(&IoEvent {
            cause: IoCause::Database,
            direction: IoDirection::Read,
            offset_bytes: block * BLOCK_BYTES,
            length_bytes: BLOCK_BYTES,
            issued_ns,
            completed_ns,
            succeeded: true,
        });
        let mut recorder = self.recorder.borrow_mut();
        recorder.operation(0, 0, completed_ns - issued_ns, None);
        Ok(1)
    }

    fn statistics(&self) -> DatabaseStatistics {
        DatabaseStatistics {
            cached_pages: 1,
            cache_capacity_pages: 1,
            cache_largest_pages: None,
            database_pages: 1,
            size_bytes: self.size,
            ..DatabaseStatistics::default()
        }
    }

    fn take_damage(&self) -> Vec<Failure> {
        Vec::new()
    }
}

impl<D: Directory> DatabaseHost for ToyHost<D> {
    type Database = ToyDatabase<D::File>;

    async fn build(
        &self,
        _: usize,
        _: Rc<dyn IoObserver>,
        progress: Progress,
        _: OnFound,
    ) -> Result<BuiltDatabase, Failure> {
        let laid = self.directory.lay_out(FILE, self.size).await;
        laid.map_err(|error| Failure::of_io(&error, "laying out the file"))?;
        progress(self.size);
        Ok(BuiltDatabase {
            size_bytes: self.size,
        })
    }

    async fn open(
        &self,
        _: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        _: OnStep,
    ) -> Result<OpenedDatabase<Self::Database>, Failure> {
        let file = self.directory.open(FILE).await;
        Ok(OpenedDatabase {
            database: ToyDatabase {
                handle: self.handle.clone(),
                file: file.map_err(|error| Failure::of_io(&error, "opening the file"))?,
                size: self.size,
                rng: Rc::new(RefCell::new(SeededRng::new(self.seed, 0))),
                observer,
                recorder,
            },
            note: String::new(),
        })
    }

    async fn close(&self, _: usize, _: Self::Database, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    async fn verify(&self, _: usize, _: Progress) -> Result<VerifyReport, Failure> {
        Ok(VerifyReport::default())
    }
}
