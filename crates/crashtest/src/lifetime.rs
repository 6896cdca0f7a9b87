//! One lifetime of the database: opened, recovered, compared with what was committed, used, and ended by
//! a power cut, a kill or a proper close.

use crate::fault::FaultKind;
use crate::judge::{Judge, LogWatch, Verdict};
use crate::model::{Committed, State};
use crate::plan::{Ending, Lifetime};
use crate::reading::read_all;
use crate::sessions::{Note, TestDatabase};
use crate::survivors::survivors;
use crate::table::{DATABASE_DIRECTORY, DATABASE_FILE, Db, TABLE, open};
use edb::{Damage, EngineSettings, RecoveryReport};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::{Fault, FaultEffect, SimulatedDisk};
use runtime::{Buffer, Directory, File, Handle, IoError, Persistence, Runtime};
use std::cell::Cell;
use std::rc::Rc;

/// Virtual time after which a lifetime must be over. Only a wait that nobody ends takes so long.
const LONGEST_LIFETIME_NS: u64 = 600_000_000_000;

/// What a lifetime begins with.
#[derive(Debug, Clone, Default)]
pub struct KnownRows {
    /// Rows that are certainly there.
    pub state: State,
    /// Commits on top of these, of which a prefix may be left.
    pub history: Vec<Committed>,
}

/// What a lifetime showed.
#[derive(Debug, Clone)]
pub struct LifetimeOutcome {
    /// What is known of the rows afterwards.
    pub known: KnownRows,
    /// What recovery did, if it came to its end.
    pub report: Option<RecoveryReport>,
    /// Commits that were gone after the opening.
    pub commits_gone: u64,
    /// Why it ended early; `None` if it ended as planned.
    pub verdict: Option<Verdict>,
}

/// Everything a lifetime needs.
pub(crate) struct LifetimeContext {
    pub(crate) handle: Handle,
    pub(crate) disk: SimulatedDisk,
    pub(crate) settings: EngineSettings,
    pub(crate) judge: Judge,
    pub(crate) lifetime: Lifetime,
    /// Wrong reads that came before the database was open.
    pub(crate) reads_at_opening: Cell<usize>,
    pub(crate) note: Note,
}

/// Runs one lifetime on `runtime`.
pub(crate) fn run_lifetime(
    runtime: &Runtime,
    stage: LifetimeContext,
    known: KnownRows,
) -> LifetimeOutcome {
    let clock = stage.handle.clone();
    drop(stage.handle.spawn(async move {
        clock.sleep_ns(LONGEST_LIFETIME_NS).await;
        panic!("nothing goes on any more: somebody waits for what never comes");
    }));
    runtime.block_on(async move { stage.run(known).await })
}

impl LifetimeContext {
    async fn run(&self, known: KnownRows) -> LifetimeOutcome {
        let mut outcome = LifetimeOutcome {
            known,
            report: None,
            commits_gone: 0,
            verdict: None,
        };
        if let Err(verdict) = self.try_run(&mut outcome).await {
            outcome.verdict = Some(verdict);
        }
        outcome
    }

    async fn try_run(&self, outcome: &mut LifetimeOutcome) -> Result<(), Verdict> {
        let failed = |error: IoError| self.judge.error(&error.into());
        self.prepare().await.map_err(failed)?;
        let (db, compared) = self.open_and_compare(outcome).await?;
        let outcome = match compared {
            Ok(()) => self.work(&db, outcome).await,
            Err(verdict) => Err(verdict),
        };
        self.judge_damage(&db.take_damage(), outcome)
    }

    /// Lets sessions work, and ends the lifetime.
    async fn work(&self, db: &Db, outcome: &mut LifetimeOutcome) -> Result<(), Verdict> {
        let table = db.table(TABLE).map_err(|error| self.judge.error(&error))?;
        let lifetime = &self.lifetime;
        let rows = (outcome.known.state.clone(), lifetime.seed);
        let note = Rc::clone(&self.note);
        let world =
            TestDatabase::with_shape(&self.handle, db.clone(), table, rows, lifetime.shape, note);
        let stops = world
            .run_beside(
                lifetime.seed,
                lifetime.sessions,
                lifetime.transactions,
                lifetime.long_ns,
            )
            .await;
        outcome.known.history = std::mem::take(&mut world.model.borrow_mut().history);
        drop(world);
        let mut lifetime_ends = false;
        for stop in stops {
            match self.judge.stop(&stop) {
                Verdict::LifetimeEnds => lifetime_ends = true,
                verdict => return Err(verdict),
            }
        }
        if lifetime_ends {
            return Err(Verdict::LifetimeEnds);
        }
        self.end(db).await
    }

    /// What background work has found, beside how the lifetime ended.
    fn judge_damage(&self, damage: &[Damage], outcome: Result<(), Verdict>) -> Result<(), Verdict> {
        if let Err(Verdict::Wrong(_)) = outcome {
            return outcome;
        }
        for one in damage {
            self.judge.damage(one)?;
        }
        outcome
    }

    /// Lets the fault and the power cut of this lifetime wait for their time.
    async fn prepare(&self) -> Result<(), IoError> {
        let (fault, disk) = (&self.judge.fault, &self.disk);
        if self.judge.is_present {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(self.lifetime.seed);
            match fault.kind {
                FaultKind::FlippedAtRest => self.flip_at_rest(&mut random).await?,
                FaultKind::FullDisk => {
                    let room_bytes = random.random_range(0..400_000);
                    disk.set_capacity_bytes(disk.used_bytes() + room_bytes);
                }
                _ => {}
            }
            if let Some(order) = &fault.order {
                disk.set_fault(order.clone());
            }
        }
        let seed = self.lifetime.seed;
        match self.lifetime.ending {
            Ending::CutAtRequest(number) => disk.set_fault(Fault {
                operation: None,
                file_contains: None,
                from: number,
                count: 1,
                effect: FaultEffect::CutPower(seed),
            }),
            Ending::CutAfter(after_ns) => {
                let (disk, clock) = (disk.clone(), self.handle.clone());
                drop(self.handle.spawn(async move {
                    clock.sleep_ns(after_ns).await;
                    disk.crash(seed);
                }));
            }
            Ending::CutAtEnd | Ending::Kill | Ending::Close => {}
        }
        Ok(())
    }

    /// Changes a bit of the database file while nobody looks.
    async fn flip_at_rest(&self, random: &mut Xoshiro256PlusPlus) -> Result<(), IoError> {
        const BLOCK: u64 = 4096;
        let directory = self.disk.directory(DATABASE_DIRECTORY);
        let file = directory.open(DATABASE_FILE).await?;
        let blocks = file.size_bytes().await? / BLOCK;
        // The first pages are in use, those at the end often are not.
        let most = if random.random_bool(0.7) { 80 } else { blocks };
        let offset = random.random_range(0..most.min(blocks)) * BLOCK;
        let (mut bytes, result) = file.read(offset, Buffer::zeroed(BLOCK as usize)).await;
        result?;
        let at = random.random_range(0..BLOCK as usize);
        bytes[at] ^= 1 << random.random_range(0..8);
        file.write(offset, Rc::new(bytes), Persistence::Durable)
            .await?;
        let slot = (offset + at as u64) / self.judge.page_bytes;
        self.judge.state.wrong.borrow_mut().insert(slot);
        self.judge.state.injected.set(true);
        (self.note)(&|| {
            format!(
                "a bit at byte {} of the database file is flipped",
                offset + at as u64
            )
        });
        Ok(())
    }

    /// Opens the database and finds out which commits are left.
    pub(crate) async fn open_and_compare(
        &self,
        outcome: &mut LifetimeOutcome,
    ) -> Result<(Db, Result<(), Verdict>), Verdict> {
        let judge = &self.judge;
        let injected_before = judge.state.injected.get();
        let watch = Rc::new(LogWatch {
            judge: judge.clone(),
            has_seen_strike: Cell::new(false),
        });
        let opened = open(&self.handle, &self.disk, &self.settings, watch).await;
        let (db, report) = opened.map_err(|error| judge.error(&error))?;
        (self.note)(&|| format!("the database is open: {report:?}"));
        outcome.report = Some(report);
        let reads = self.disk.wrong_reads().len();
        self.reads_at_opening.set(reads);
        let compared = self.compare(&db, outcome, injected_before).await;
        Ok((db, compared))
    }

    async fn compare(
        &self,
        db: &Db,
        outcome: &mut LifetimeOutcome,
        injected_before: bool,
    ) -> Result<(), Verdict> {
        let judge = &self.judge;
        let table = db.table(TABLE).map_err(|error| judge.error(&error))?;
        let rows = read_all(db, &table).await;
        let rows = rows.map_err(|stop| judge.stop(&stop))?;
        let known = &mut outcome.known;
        let found = survivors(&known.state, &known.history, &rows);
        let (state, count) = found.map_err(|mismatch| judge.wrong(mismatch.into()))?;
        (self.note)(&|| format!("{count} of {} commits are there", known.history.len()));
        outcome.commits_gone = (known.history.len() - count) as u64;
        known.state = state;
        known.history.clear();
        if injected_before && judge.state.log_writes_since.get() == 0 {
            judge.state.passed_as_end.set(true);
        }
        Ok(())
    }

    /// Ends the lifetime as planned. A database that is closed is read back. If the engine has to say by
    /// now that pages are wrong, half of the databases are closed and read back before whatever was
    /// planned; the others show what recovery makes of such pages.
    async fn end(&self, db: &Db) -> Result<(), Verdict> {
        let seed = self.lifetime.seed;
        let is_required =
            self.judge.must_report() && !self.judge.state.process_ended.get() && seed & 2 == 0;
        let closes = self.lifetime.ending == Ending::Close || is_required;
        if closes && self.disk.has_power() {
            self.close_and_read_back(db, None).await?;
        }
        match self.lifetime.ending {
            Ending::Kill => {}
            Ending::Close => {
                if seed.is_multiple_of(2) {
                    self.disk.crash(seed);
                }
            }
            Ending::CutAtRequest(_) | Ending::CutAfter(_) | Ending::CutAtEnd => {
                self.disk.crash(seed);
            }
        }
        Ok(())
    }
}

/// Recovers the database once more without a fault, closes it, and holds everything in the file
/// against everything: rows, trees, space, indexes, long values.
pub(crate) async fn check_whole(stage: &LifetimeContext, known: &KnownRows) -> Result<(), Verdict> {
    let mut outcome = LifetimeOutcome {
        known: known.clone(),
        report: None,
        commits_gone: 0,
        verdict: None,
    };
    let (db, compared) = stage.open_and_compare(&mut outcome).await?;
    let outcome = match compared {
        Ok(()) => {
            let rows = outcome.known.state.len();
            stage.close_and_read_back(&db, Some(rows)).await
        }
        Err(verdict) => Err(verdict),
    };
    stage.judge_damage(&db.take_damage(), outcome)?;
    Ok(())
}
