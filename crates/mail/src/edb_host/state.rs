//! The state files of the databases of a run: what was written last is known, and compared with what is there.

use super::{EdbHost, file_name};
use crate::population::PopulationState;
use crate::recount::InFlight;
use crate::state_file::{Condition, DatabaseState, Found, MOVE_IT_AWAY, STATE_FILE};
use edb::passive;
use edb::reading::header_of;
use measure::result::IntegrityClass;
use measure::units;
use runtime::Directory;
use workload::failure::{Failure, FailureKind};

/// Rows that transactions of a run may have had under way of which nothing is known.
const MOST_IN_FLIGHT: u64 = 1_000;

/// What the comparison of a state file with what was written has shown.
pub(super) enum StateCheck {
    /// It is as it was written, or nothing was.
    Right,
    /// It was not, and was written again.
    Repaired(Failure),
    /// It is something else altogether, and was left as it is.
    Left(Failure),
}

impl StateCheck {
    /// What is wrong, if something is.
    pub(super) fn failure(self) -> Option<Failure> {
        match self {
            Self::Right => None,
            Self::Repaired(failure) | Self::Left(failure) => Some(failure),
        }
    }
}

/// What a database is opened with.
pub(super) struct OpenedState {
    /// Its state as this run has written it, or as it was found.
    pub(super) state: DatabaseState,
    /// What was wrong with the file.
    pub(super) damage: Option<Failure>,
    /// What has become of the file, if nothing but the database itself says what it holds.
    pub(super) lost: Option<&'static str>,
}

impl OpenedState {
    /// That the rows had to be counted, in a sentence; empty if they had not.
    pub(super) fn counted(&self, file: &str, rows: PopulationState) -> String {
        let Some(became) = self.lost else {
            return String::new();
        };
        format!(
            "The file {STATE_FILE} beside {file} {became}; the messages of the database were counted and the file \
             was written anew: {} inserted since it was built, {} deleted",
            units::count_of(rows.next_row - rows.built_rows),
            units::count_of(rows.deletes)
        )
    }
}

impl<D: Directory> EdbHost<D> {
    /// Writes the state of a database, and keeps it as what must be there from now on.
    pub(super) async fn write_state(
        &self,
        database: usize,
        state: DatabaseState,
    ) -> Result<(), Failure> {
        state.write(&self.place(database).data).await?;
        self.written.borrow_mut().insert(database, state);
        Ok(())
    }

    /// Says that a run works on the database from now on.
    pub(super) async fn in_use(
        &self,
        database: usize,
        population: PopulationState,
    ) -> Result<(), Failure> {
        let state = DatabaseState {
            population,
            ..self.new_state(Condition::InUse)
        };
        self.write_state(database, state).await
    }

    /// Compares the state file of a database with what this run has written. One that is not the same is
    /// written again, unless it is something else altogether.
    pub(super) async fn check_state(
        &self,
        database: usize,
        doing: &str,
    ) -> Result<StateCheck, Failure> {
        let directory = &self.place(database).data;
        let Some(written) = self.written.borrow().get(&database).cloned() else {
            return Ok(StateCheck::Right);
        };
        let problem = match DatabaseState::find(directory).await? {
            Found::State(state) if state == written => return Ok(StateCheck::Right),
            Found::State(_) => "it is the state of something else than this run has written",
            Found::Damaged => "it is damaged",
            Found::Missing => "it is missing",
            Found::Other(what) => {
                let error = format!("{what}; it was left as it is; {MOVE_IT_AWAY}");
                return Ok(StateCheck::Left(
                    self.state_failure(database, doing, &error),
                ));
            }
        };
        written.write(directory).await?;
        let error = format!("{problem}; it was written again");
        Ok(StateCheck::Repaired(
            self.state_failure(database, doing, &error),
        ))
    }

    /// The state with which a database is opened. Where the file is lost, that of the build, from which the rows
    /// are counted.
    pub(super) async fn opened_state(
        &self,
        database: usize,
        doing: &str,
    ) -> Result<OpenedState, Failure> {
        let known = self.written.borrow().get(&database).cloned();
        if let Some(state) = known {
            return Ok(OpenedState {
                damage: self.check_state(database, doing).await?.failure(),
                state,
                lost: None,
            });
        }
        let (lost, damage) = match DatabaseState::find(&self.place(database).data).await? {
            Found::State(state) => {
                return Ok(OpenedState {
                    state,
                    damage: None,
                    lost: None,
                });
            }
            Found::Missing => ("was missing", None),
            Found::Damaged => {
                let error = "it is damaged; what it said was found out from the database";
                let damage = self.state_failure(database, doing, error);
                ("was damaged", Some(damage))
            }
            Found::Other(what) => {
                return Err(self.other_state(database, &what, doing));
            }
        };
        self.refuse_other_seed(database, doing).await?;
        let in_flight = self.plan.most_in_flight().0.max(MOST_IN_FLIGHT);
        let state = DatabaseState {
            in_flight: Some(InFlight(in_flight)),
            is_passive_copy: self.has_shipped_log(database, doing).await?,
            ..self.new_state(Condition::InUse)
        };
        Ok(OpenedState {
            state,
            damage,
            lost: Some(lost),
        })
    }

    /// Whether a database whose state is lost is a passive copy.
    async fn has_shipped_log(&self, database: usize, doing: &str) -> Result<bool, Failure> {
        let place = self.place(database);
        let failure = |error| Failure::of_io(&error, doing);
        let file = place.data.open(&file_name(database)).await;
        let file = file.map_err(failure)?;
        passive::is_passive_copy(&file, &place.log)
            .await
            .map_err(failure)
    }

    /// The failure that something else than a state is in its place: `what` it is.
    pub(super) fn other_state(&self, database: usize, what: &str, doing: &str) -> Failure {
        let file = self.state_path(database);
        let error = format!("{what}; {MOVE_IT_AWAY}");
        Failure::new(FailureKind::Internal, file, doing, error)
    }

    /// A database of which no state says what it was built with, but its header.
    async fn refuse_other_seed(&self, database: usize, doing: &str) -> Result<(), Failure> {
        let place = self.place(database);
        let file = place.data.open(&file_name(database)).await;
        let file = file.map_err(|error| Failure::of_io(&error, doing))?;
        let signature = self.plan.signature_of(self.plan.data_seed, database);
        match header_of(&file).await {
            Ok(header) if header.signature.random != signature => Err(Failure::new(
                FailureKind::Internal,
                format!("{}/{}", place.data.describe(), file_name(database)),
                doing,
                format!(
                    "the file {STATE_FILE} beside it is lost, and its header shows that it was built with another \
                         seed than asked for now"
                ),
            )),
            // What is wrong with its headers shows when it is opened.
            _ => Ok(()),
        }
    }

    fn state_failure(&self, database: usize, doing: &str, error: &str) -> Failure {
        let file = self.state_path(database);
        Failure::of_data(IntegrityClass::StateFile, &file, doing, error)
    }

    fn state_path(&self, database: usize) -> String {
        format!("{}/{STATE_FILE}", self.place(database).data.describe())
    }
}
