//! The database that every simulation begins with, made once per thread and size of pages.

use crate::check::Stop;
use crate::model::{RowModel, State};
use crate::table::{create, messages, small_settings};
use edb::Commit;
use runtime::Runtime;
use runtime::simulated::{SimulatedDisk, SimulatedOptions};
use runtime::trace::NoObserver;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Rows of the database.
const ROWS: u32 = 50;

/// A disk with a closed database on it.
#[derive(Clone)]
pub struct Base {
    /// The simulated disk that holds the built database.
    pub disk: SimulatedDisk,
    /// The rows of that database, as the model has them.
    pub state: Rc<State>,
}

thread_local! {
    static BASES: RefCell<BTreeMap<usize, Base>> = const { RefCell::new(BTreeMap::new()) };
}

impl Base {
    /// The database with pages of this size.
    ///
    /// # Errors
    /// If the engine fails although nothing has befallen the disk.
    pub fn with_pages(page_bytes: usize) -> Result<Self, Stop> {
        let known = BASES.with_borrow(|bases| bases.get(&page_bytes).cloned());
        if let Some(base) = known {
            return Ok(base);
        }
        let base = Self::make(page_bytes)?;
        BASES.with_borrow_mut(|bases| bases.insert(page_bytes, base.clone()));
        Ok(base)
    }

    fn make(page_bytes: usize) -> Result<Self, Stop> {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let options = SimulatedOptions {
            log_length: 0,
            ..SimulatedOptions::instant()
        };
        let disk = SimulatedDisk::new(&handle, options);
        let work = disk.clone();
        let state = runtime.block_on(async move {
            let settings = small_settings(page_bytes);
            let db = create(&handle, &work, &settings, Rc::new(NoObserver)).await?;
            let table = db.create_table(&messages()).await?;
            let mut state = State::new();
            let mut tx = db.begin();
            for number in 0..ROWS {
                let mixed = u64::from(number).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                let row = RowModel {
                    token: [b"base".as_slice(), &mixed.to_be_bytes()].concat(),
                    size: number as i32,
                    body: (number, if number % 9 == 0 { 5000 } else { 200 }),
                };
                state.insert(tx.insert(&table, &row.values()).await?, row);
            }
            tx.commit(Commit::Durable).await?;
            db.close().await?;
            Ok::<_, Stop>(state)
        })?;
        Ok(Self {
            disk,
            state: Rc::new(state),
        })
    }
}
