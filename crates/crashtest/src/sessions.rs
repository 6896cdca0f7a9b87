//! Random sessions on one table, with a model in memory that knows what each of them must see.

use crate::check::{Stop, require};
use crate::model::{Model, RowModel, State};
use crate::table::Db;
use edb::{
    Commit, Direction, EngineError, LongValues, Row, ScanOptions, Table, Transaction, Value,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::Handle;
use runtime::simulated::SimulatedDirectory;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Called with a line about what a session does.
pub type Note = Rc<dyn Fn(&dyn Fn() -> String)>;

/// What sessions do, in numbers.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Share of bodies that are long, in percent.
    pub long_percent: u32,
    /// Rows that sessions try not to exceed.
    pub most_rows: usize,
    /// Share of commits that wait until they are durable, in percent.
    pub durable_percent: u32,
    /// Milliseconds within which other commits become durable.
    pub lazy_within_ms: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            long_percent: 10,
            most_rows: 150,
            durable_percent: 33,
            lazy_within_ms: 3,
        }
    }
}

/// A database under test.
pub struct TestDatabase {
    handle: Handle,
    db: Db,
    table: Table,
    /// What the sessions have committed.
    pub model: RefCell<Model>,
    shape: Shape,
    next_session: Cell<u64>,
    note: Note,
}

impl TestDatabase {
    /// Sessions on `table`, which holds the rows of `state`. `seed` makes tokens unique over all
    /// lifetimes of a database.
    #[must_use]
    pub fn new(handle: &Handle, db: Db, table: Table, state: State, seed: u64) -> Rc<Self> {
        let note: Note = Rc::new(|_| {});
        Self::with_shape(handle, db, table, (state, seed), Shape::default(), note)
    }

    /// As [`TestDatabase::new`], with other numbers and somebody who reads along.
    #[must_use]
    pub fn with_shape(
        handle: &Handle,
        db: Db,
        table: Table,
        (state, seed): (State, u64),
        shape: Shape,
        note: Note,
    ) -> Rc<Self> {
        Rc::new(Self {
            handle: handle.clone(),
            db,
            table,
            model: RefCell::new(Model::new(state, seed << 24)),
            shape,
            next_session: Cell::new(0),
            note,
        })
    }

    /// Starts sessions and waits until all have done `transactions` or met what ends them.
    pub async fn run(self: &Rc<Self>, seed: u64, sessions: u64, transactions: u32) -> Vec<Stop> {
        self.run_beside(seed, sessions, transactions, None).await
    }

    /// As [`TestDatabase::run`], beside one session whose transactions stay open for up to `long_ns` each.
    pub async fn run_beside(
        self: &Rc<Self>,
        seed: u64,
        sessions: u64,
        transactions: u32,
        long_ns: Option<u64>,
    ) -> Vec<Stop> {
        let mut tasks = Vec::new();
        let session = |session: u64, pause_ns| {
            let world = Rc::clone(self);
            let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ session << 32);
            Session {
                world,
                random,
                pause_ns,
            }
        };
        for number in 0..sessions {
            let mut session = session(number, None);
            let work = async move { session.run(transactions).await };
            tasks.push(self.handle.spawn(work));
        }
        if let Some(long_ns) = long_ns {
            let mut session = session(sessions, Some(long_ns));
            tasks.push(self.handle.spawn(async move { session.run(3).await }));
        }
        let mut stops = Vec::new();
        for task in tasks {
            stops.extend(task.await.err());
        }
        stops
    }
}

struct Session {
    world: Rc<TestDatabase>,
    random: Xoshiro256PlusPlus,
    /// How long a transaction of this session may stay open between two operations.
    pause_ns: Option<u64>,
}

/// One transaction with what it must see.
struct Open {
    tx: Transaction<SimulatedDirectory>,
    id: u64,
    snapshot: usize,
    state: State,
    effects: Vec<(i64, Option<RowModel>)>,
}

impl Session {
    async fn run(&mut self, transactions: u32) -> Result<(), Stop> {
        for _ in 0..transactions {
            self.transaction().await?;
            if self.random.random_range(0..4) == 0 {
                let pause_ns = self.random.random_range(0..200_000);
                self.world.handle.sleep_ns(pause_ns).await;
            }
        }
        Ok(())
    }

    async fn transaction(&mut self) -> Result<(), Stop> {
        let world = Rc::clone(&self.world);
        let id = world.next_session.get();
        world.next_session.set(id + 1);
        let mut open = {
            let model = world.model.borrow();
            Open {
                tx: world.db.begin(),
                id,
                snapshot: model.history.len(),
                state: model.state.clone(),
                effects: Vec::new(),
            }
        };
        let mut outcome = Ok(true);
        for _ in 0..self.random.random_range(1..6) {
            outcome = self.operation(&mut open).await;
            if !matches!(outcome, Ok(true)) {
                break;
            }
            if let Some(longest_ns) = self.pause_ns {
                let pause_ns = self.random.random_range(0..=longest_ns);
                world.handle.sleep_ns(pause_ns).await;
            }
        }
        let outcome = match outcome {
            // Dropped, and rolled back nobody knows when, if ever: what it touched may conflict.
            Err(error) => return Err(error),
            Ok(go_on) if !go_on || self.random.random_range(0..8) == 0 => {
                let result = match self.random.random_range(0..4) {
                    0 => {
                        // Rolled back in the background, nobody knows until when: the rows it
                        // touched may conflict from now on.
                        drop(open.tx);
                        world.model.borrow_mut().event(("dropped", id));
                        return Ok(());
                    }
                    _ => open.tx.rollback().await,
                };
                world.model.borrow_mut().event(("rollback", id));
                result.map_err(Stop::from)
            }
            Ok(_) => self.commit(open.tx, id, open.effects).await,
        };
        outcome?;
        world.note_end(id);
        Ok(())
    }

    async fn commit(
        &mut self,
        tx: Transaction<SimulatedDirectory>,
        id: u64,
        effects: Vec<(i64, Option<RowModel>)>,
    ) -> Result<(), Stop> {
        let shape = self.world.shape;
        let durable = self.random.random_range(0..100) < shape.durable_percent;
        let commit = if durable {
            Commit::Durable
        } else {
            let within_ms = shape.lazy_within_ms;
            Commit::Lazy { within_ms }
        };
        let world = &self.world;
        if effects.is_empty() {
            return Ok(tx.commit(commit).await?);
        }
        // The engine orders commits at this very moment: nothing else runs in between.
        let place = {
            let mut model = world.model.borrow_mut();
            model.event(("commit", id, durable));
            (world.note)(&|| {
                let keys: Vec<String> = effects.iter().map(describe_effect).collect();
                let number = model.history.len() + 1;
                let kind = if durable { "durable" } else { "lazy" };
                format!("commit {number}, {kind}: {}", keys.join(" "))
            });
            model.apply(effects)
        };
        tx.commit(commit).await?;
        world.model.borrow_mut().history[place].acknowledged = durable;
        if durable {
            (world.note)(&|| format!("commit {} is acknowledged", place + 1));
        }
        Ok(())
    }

    /// One random operation; `Ok(false)`: a conflict, the transaction must be given up.
    async fn operation(&mut self, open: &mut Open) -> Result<bool, Stop> {
        let full = open.state.len() >= self.world.shape.most_rows;
        match self.random.random_range(0..10) {
            0..=2 if !full => self.insert(open).await,
            0..=3 => self.delete(open).await,
            4..=6 => self.update(open).await,
            7 => self.read(open).await.map(|()| true),
            8 => self.seek(open).await.map(|()| true),
            _ => self.scan(open).await.map(|()| true),
        }
    }

    fn new_row(&mut self) -> RowModel {
        let mut model = self.world.model.borrow_mut();
        model.next_token += 1;
        let number = model.next_token.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut token = number.to_be_bytes().to_vec();
        token.resize(self.random.random_range(8..30), 7);
        let length = if self.random.random_range(0..100) < self.world.shape.long_percent {
            self.random.random_range(1024..12_000)
        } else {
            self.random.random_range(0..300)
        };
        RowModel {
            token,
            size: self.random.random_range(0..1000),
            body: (number as u32, length),
        }
    }

    fn some_key(&mut self, open: &Open) -> Option<i64> {
        let last = *open.state.keys().next_back()?;
        let from = self.random.random_range(0..=last);
        open.state.range(from..).next().map(|(key, _)| *key)
    }

    async fn insert(&mut self, open: &mut Open) -> Result<bool, Stop> {
        let world = Rc::clone(&self.world);
        let new = self.new_row();
        let duplicate = self.random.random_range(0..10) == 0;
        let in_use = open.state.values().next().filter(|_| duplicate);
        if let Some(RowModel { token, .. }) = in_use {
            // A token in use is refused, or the row that has it was changed meanwhile.
            let token = token.clone();
            let same_token = RowModel { token, ..new };
            return match open.tx.insert(&world.table, &same_token.values()).await {
                Err(EngineError::KeyDuplicate { .. } | EngineError::WriteConflict) => Ok(true),
                Err(error) => Err(error.into()),
                Ok(key) => Err(Stop::wrong(format!(
                    "row {key} was inserted with the token of another row"
                ))),
            };
        }
        let key = open.tx.insert(&world.table, &new.values()).await?;
        world.model.borrow_mut().event(("insert", open.id, key));
        let old = open.state.insert(key, new.clone());
        require(old.is_none(), || format!("key {key} was given twice"))?;
        open.effects.push((key, Some(new)));
        Ok(true)
    }

    /// Takes note that a transaction is about to change a row.
    fn before_change(&self, open: &Open, key: i64) -> u64 {
        let mut model = self.world.model.borrow_mut();
        model.active.entry(key).or_default().insert(open.id);
        model.event(("change", open.id, key))
    }

    /// Checks that a change of one row conflicted exactly when it must.
    fn after_change(
        &self,
        open: &Open,
        key: i64,
        started: u64,
        result: Result<bool, EngineError>,
    ) -> Result<bool, Stop> {
        let mut model = self.world.model.borrow_mut();
        model.event(("changed", open.id, key, result.is_ok()));
        let changed = model
            .last_change
            .get(&key)
            .is_some_and(|&at| at > open.snapshot);
        match result {
            Ok(found) => {
                require(!changed, || {
                    format!("row {key} was changed by two transactions at the same time")
                })?;
                require(found, || format!("row {key} is not found to be changed"))?;
                Ok(true)
            }
            Err(EngineError::WriteConflict) => {
                let others = model.active.get(&key).is_some_and(|who| who.len() > 1);
                let ended = model.ended.get(&key).is_some_and(|&at| at > started);
                require(changed || others || ended, || {
                    format!("a change of row {key} conflicts with no other transaction")
                })?;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(&mut self, open: &mut Open) -> Result<bool, Stop> {
        let Some(key) = self.some_key(open) else {
            return Ok(true);
        };
        let started = self.before_change(open, key);
        let result = open.tx.delete(&self.world.table, key).await;
        let go_on = self.after_change(open, key, started, result)?;
        if go_on {
            open.state.remove(&key);
            open.effects.push((key, None));
        }
        Ok(go_on)
    }

    async fn update(&mut self, open: &mut Open) -> Result<bool, Stop> {
        let Some(key) = self.some_key(open) else {
            return Ok(true);
        };
        let new = self.new_row();
        let mut row = open.state[&key].clone();
        let mut changes = vec![(1, Value::Long(new.size))];
        row.size = new.size;
        if self.random.random_range(0..3) == 0 {
            changes.push((2, Value::Bytes(new.token.clone())));
            row.token = new.token.clone();
        }
        if self.random.random_range(0..2) == 0 {
            changes.push((3, Value::Bytes(new.body_bytes())));
            row.body = new.body;
        }
        let started = self.before_change(open, key);
        let result = open.tx.update(&self.world.table, key, changes).await;
        let go_on = self.after_change(open, key, started, result)?;
        if go_on {
            open.state.insert(key, row.clone());
            open.effects.push((key, Some(row)));
        }
        Ok(go_on)
    }

    async fn read(&mut self, open: &mut Open) -> Result<(), Stop> {
        let key = self.some_key(open).unwrap_or(1) - self.random.random_range(0..2);
        let table = &self.world.table;
        let found = open.tx.get(table, key, LongValues::Fetch).await?;
        check_row(open, key, found.as_ref())
    }

    async fn seek(&mut self, open: &mut Open) -> Result<(), Stop> {
        let Some(key) = self.some_key(open) else {
            return Ok(());
        };
        let token = &open.state[&key].token;
        let table = &self.world.table;
        let found = open
            .tx
            .seek_index(table, "ByToken", token, LongValues::Fetch)
            .await?;
        let found_key = found.as_ref().map(|row| row.key);
        require(found_key == Some(key), || {
            format!("the index finds row {found_key:?} by the token of row {key}")
        })?;
        check_row(open, key, found.as_ref())
    }

    async fn scan(&mut self, open: &mut Open) -> Result<(), Stop> {
        let from = self.some_key(open).unwrap_or(0);
        let backward = self.random.random_range(0..2) == 0;
        let options = ScanOptions {
            limit: self.random.random_range(1..40),
            direction: if backward {
                Direction::Backward
            } else {
                Direction::Forward
            },
            read_ahead: self.random.random_range(0..2) == 0,
            long_values: LongValues::Fetch,
        };
        let table = &self.world.table;
        let (rows, keys): (_, Vec<i64>) = if backward {
            let keys = open.state.range(..from).rev().take(options.limit);
            let keys = keys.map(|(key, _)| *key).collect();
            (open.tx.scan(table, ..from, options).await?, keys)
        } else {
            let keys = open.state.range(from..).take(options.limit);
            let keys = keys.map(|(key, _)| *key).collect();
            (open.tx.scan(table, from.., options).await?, keys)
        };
        let found: Vec<i64> = rows.iter().map(|row| row.key).collect();
        require(found == keys, || {
            format!("a scan from {from} (backward: {backward}) finds {found:?}, not {keys:?}")
        })?;
        rows.iter()
            .try_for_each(|row| check_row(open, row.key, Some(row)))
    }
}

impl TestDatabase {
    /// Takes note that a transaction has ended.
    fn note_end(&self, id: u64) {
        let mut model = self.model.borrow_mut();
        let now = model.event(("end", id, self.handle.now_ns()));
        let model = &mut *model;
        for (key, who) in &mut model.active {
            if who.remove(&id) {
                model.ended.insert(*key, now);
            }
        }
    }
}

fn describe_effect((key, row): &(i64, Option<RowModel>)) -> String {
    match row {
        Some(_) => format!("{key}"),
        None => format!("-{key}"),
    }
}

fn check_row(open: &Open, key: i64, found: Option<&Row>) -> Result<(), Stop> {
    let model = open.state.get(&key);
    let agrees = match (model, found) {
        (None, None) => true,
        (Some(model), Some(found)) => model.is(found),
        _ => false,
    };
    require(agrees, || {
        let expected = model.map_or("nothing".to_owned(), ToString::to_string);
        let found = found.map_or("nothing".to_owned(), crate::model::describe);
        let id = open.id;
        format!("transaction {id} reads row {key} as {found}; expected: {expected}")
    })
}
