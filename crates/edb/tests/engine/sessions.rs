//! Random sessions on one table, with a model in memory that knows what each of them must see.

use crate::common::*;
use edb::{
    Commit, Direction, EngineError, LongValues, Row, ScanOptions, Table, Transaction, Value,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::Handle;
use runtime::simulated::SimulatedDirectory;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// A row as the model keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowModel {
    pub token: Vec<u8>,
    pub size: i32,
    /// Seed and length of the body.
    pub body: (u32, usize),
}

pub type State = BTreeMap<i64, RowModel>;

impl RowModel {
    /// Without regular patterns: those can hide a torn write from the checksum.
    pub fn body_bytes(&self) -> Vec<u8> {
        let (seed, length) = self.body;
        let mut body = vec![0; length];
        Xoshiro256PlusPlus::seed_from_u64(u64::from(seed)).fill_bytes(&mut body);
        body
    }

    fn values(&self) -> Vec<Value> {
        row(&self.token, self.size, self.body_bytes())
    }

    pub fn is(&self, row: &Row) -> bool {
        row.values[1] == Value::Long(self.size)
            && row.values[2].as_bytes() == Some(&self.token)
            && row.values[3].as_bytes() == Some(&self.body_bytes())
    }
}

/// What a committed transaction changed, to be looked for after a crash.
pub struct Committed {
    pub effects: Vec<(i64, Option<RowModel>)>,
    /// Whether the caller was informed that it is durable.
    pub acknowledged: bool,
}

/// What all sessions know together.
#[derive(Default)]
pub struct Model {
    pub state: State,
    pub history: Vec<Committed>,
    /// Per row, the number of the last commit that changed it.
    last_change: BTreeMap<i64, usize>,
    /// Per row, the open sessions that changed it or try to.
    active: BTreeMap<i64, BTreeSet<u64>>,
    /// Per row, when a transaction that had touched it last ended.
    ended: BTreeMap<i64, u64>,
    next_token: u64,
    events: u64,
    trace: DefaultHasher,
}

impl Model {
    fn event(&mut self, what: impl Hash) -> u64 {
        what.hash(&mut self.trace);
        self.events += 1;
        self.events
    }

    /// A number that stands for everything that has happened.
    pub fn trace(&self) -> u64 {
        self.trace.finish()
    }

    fn apply(&mut self, effects: Vec<(i64, Option<RowModel>)>) -> usize {
        for (key, row) in &effects {
            match row {
                Some(row) => self.state.insert(*key, row.clone()),
                None => self.state.remove(key),
            };
            self.last_change.insert(*key, self.history.len() + 1);
        }
        self.history.push(Committed {
            effects,
            acknowledged: false,
        });
        self.history.len() - 1
    }
}

/// A database under test.
pub struct World {
    pub handle: Handle,
    pub db: Db,
    pub table: Table,
    pub model: RefCell<Model>,
    /// Share of bodies that are long, in percent.
    pub long_percent: u32,
    /// Rows that sessions try not to exceed.
    pub most_rows: usize,
    next_session: Cell<u64>,
}

impl World {
    pub fn new(handle: &Handle, db: Db, table: Table, state: State, seed: u64) -> Rc<Self> {
        // Tokens are unique over all lives of a database.
        let model = Model {
            state,
            next_token: seed << 24,
            ..Model::default()
        };
        Rc::new(Self {
            handle: handle.clone(),
            db,
            table,
            model: RefCell::new(model),
            long_percent: 10,
            most_rows: 150,
            next_session: Cell::new(0),
        })
    }

    /// Starts sessions and waits until all have done `transactions` or met an error that ends them.
    pub async fn run(
        self: &Rc<Self>,
        seed: u64,
        sessions: u64,
        transactions: u32,
    ) -> Vec<EngineError> {
        let mut tasks = Vec::new();
        for session in 0..sessions {
            let world = Rc::clone(self);
            let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ session << 32);
            tasks.push(
                self.handle
                    .spawn(async move { Session { world, random }.run(transactions).await }),
            );
        }
        let mut errors = Vec::new();
        for task in tasks {
            errors.extend(task.await.err());
        }
        errors
    }
}

struct Session {
    world: Rc<World>,
    random: Xoshiro256PlusPlus,
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
    async fn run(&mut self, transactions: u32) -> Result<(), EngineError> {
        for _ in 0..transactions {
            self.transaction().await?;
            if self.random.random_range(0..4) == 0 {
                let pause_ns = self.random.random_range(0..200_000);
                self.world.handle.sleep_ns(pause_ns).await;
            }
        }
        Ok(())
    }

    async fn transaction(&mut self) -> Result<(), EngineError> {
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
        }
        let outcome = match outcome {
            Err(error) => Err(error),
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
                result
            }
            Ok(_) => self.commit(open.tx, id, open.effects).await,
        };
        let mut model = world.model.borrow_mut();
        let now = model.event(("end", id, world.handle.now_ns()));
        let touched: Vec<i64> = model
            .active
            .iter()
            .filter(|(_, who)| who.contains(&id))
            .map(|(key, _)| *key)
            .collect();
        for key in touched {
            model.ended.insert(key, now);
            if let Some(who) = model.active.get_mut(&key) {
                who.remove(&id);
            }
        }
        outcome
    }

    async fn commit(
        &mut self,
        tx: Transaction<SimulatedDirectory>,
        id: u64,
        effects: Vec<(i64, Option<RowModel>)>,
    ) -> Result<(), EngineError> {
        let durable = self.random.random_range(0..3) == 0;
        let commit = if durable {
            Commit::Durable
        } else {
            Commit::Lazy { within_ms: 3 }
        };
        let world = &self.world;
        if effects.is_empty() {
            return tx.commit(commit).await;
        }
        // The engine orders commits at this very moment: nothing else runs in between.
        let place = {
            let mut model = world.model.borrow_mut();
            model.event(("commit", id, durable));
            model.apply(effects)
        };
        tx.commit(commit).await?;
        world.model.borrow_mut().history[place].acknowledged = durable;
        Ok(())
    }

    /// One random operation; `Ok(false)`: a conflict, the transaction must be given up.
    async fn operation(&mut self, open: &mut Open) -> Result<bool, EngineError> {
        let full = open.state.len() >= self.world.most_rows;
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
        let length = if self.random.random_range(0..100) < self.world.long_percent {
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

    async fn insert(&mut self, open: &mut Open) -> Result<bool, EngineError> {
        let world = Rc::clone(&self.world);
        let new = self.new_row();
        let duplicate = self.random.random_range(0..10) == 0 && !open.state.is_empty();
        if duplicate {
            // A token in use is refused, or the row that has it was changed meanwhile.
            let token = open
                .state
                .values()
                .next()
                .map(|row| row.token.clone())
                .unwrap();
            let same_token = RowModel { token, ..new };
            return match open.tx.insert(&world.table, &same_token.values()).await {
                Err(EngineError::KeyDuplicate { .. } | EngineError::WriteConflict) => Ok(true),
                Err(error) => Err(error),
                Ok(key) => panic!("row {key} has the token of another row"),
            };
        }
        let key = open.tx.insert(&world.table, &new.values()).await?;
        world.model.borrow_mut().event(("insert", open.id, key));
        assert!(
            open.state.insert(key, new.clone()).is_none(),
            "key {key} was given twice"
        );
        open.effects.push((key, Some(new)));
        Ok(true)
    }

    /// Runs a change of one row and checks that it conflicts exactly when it must.
    fn before_change(&self, open: &Open, key: i64) -> u64 {
        let mut model = self.world.model.borrow_mut();
        model.active.entry(key).or_default().insert(open.id);
        model.event(("change", open.id, key))
    }

    fn after_change(
        &self,
        open: &Open,
        key: i64,
        started: u64,
        result: Result<bool, EngineError>,
    ) -> Result<bool, EngineError> {
        let mut model = self.world.model.borrow_mut();
        model.event(("changed", open.id, key, result.is_ok()));
        let changed = model
            .last_change
            .get(&key)
            .is_some_and(|&at| at > open.snapshot);
        match result {
            Ok(found) => {
                assert!(!changed, "row {key} was changed after the snapshot");
                assert!(found, "row {key} is there");
                Ok(true)
            }
            Err(EngineError::WriteConflict) => {
                let others = model.active.get(&key).is_some_and(|who| who.len() > 1);
                let ended = model.ended.get(&key).is_some_and(|&at| at > started);
                assert!(
                    changed || others || ended,
                    "a conflict about row {key} with nobody"
                );
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    async fn delete(&mut self, open: &mut Open) -> Result<bool, EngineError> {
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

    async fn update(&mut self, open: &mut Open) -> Result<bool, EngineError> {
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

    async fn read(&mut self, open: &mut Open) -> Result<(), EngineError> {
        let key = self.some_key(open).unwrap_or(1) - self.random.random_range(0..2);
        let found = open
            .tx
            .get(&self.world.table, key, LongValues::Fetch)
            .await?;
        check_row(open, key, found.as_ref());
        Ok(())
    }

    async fn seek(&mut self, open: &mut Open) -> Result<(), EngineError> {
        let Some(key) = self.some_key(open) else {
            return Ok(());
        };
        let token = &open.state[&key].token;
        let table = &self.world.table;
        let found = open
            .tx
            .seek_index(table, "ByToken", token, LongValues::Fetch)
            .await?;
        assert_eq!(
            found.as_ref().map(|row| row.key),
            Some(key),
            "by token {token:02x?}"
        );
        check_row(open, key, found.as_ref());
        Ok(())
    }

    async fn scan(&mut self, open: &mut Open) -> Result<(), EngineError> {
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
            let keys = open
                .state
                .range(..from)
                .rev()
                .take(options.limit)
                .map(|(key, _)| *key);
            (open.tx.scan(table, ..from, options).await?, keys.collect())
        } else {
            let keys = open
                .state
                .range(from..)
                .take(options.limit)
                .map(|(key, _)| *key);
            (open.tx.scan(table, from.., options).await?, keys.collect())
        };
        let found: Vec<i64> = rows.iter().map(|row| row.key).collect();
        assert_eq!(found, keys, "a scan from {from}, backward: {backward}");
        rows.iter()
            .for_each(|row| check_row(open, row.key, Some(row)));
        Ok(())
    }
}

fn check_row(open: &Open, key: i64, found: Option<&Row>) {
    match (open.state.get(&key), found) {
        (None, None) => {}
        (Some(model), Some(found)) => assert!(
            model.is(found),
            "row {key} of transaction {} is {:?}, {:?}, {:?} bytes, not {model:?}",
            open.id,
            found.values[1],
            found.values[2],
            found.values[3].as_bytes().map(<[u8]>::len)
        ),
        (model, found) => panic!("row {key}: {found:?} instead of {model:?}"),
    }
}
