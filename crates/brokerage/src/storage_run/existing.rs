//! A database that is there already: whether a run may go on it.

use crate::database::{LockError, RunLock, State, missing_tables_and_indexes};
use crate::dataset::DataSet;
use execution::storage_run::RunRequest;
use execution::{Error, RunOptions};
use measure::units;

use super::server::{self, Opened};

/// Locks a database that an earlier run has kept.
pub(super) fn locked(opened: &Opened) -> Result<Box<dyn RunLock>, Error> {
    opened.database.lock().map_err(|error| match error {
        LockError::Held(holder) => Error::environment(
            format!(
                "Another run uses the brokerage in {}: {holder}.",
                opened.describe()
            ),
            "Wait until it has ended, or name another database.",
        ),
        LockError::Database(error) => server::refusal(&error),
    })
}

/// The data set of the run: the one that is there with `--reuse`, else that of the profile.
pub(super) fn existing_data_set(
    request: &RunRequest,
    options: &RunOptions,
    data_set: DataSet,
    opened: &Opened,
) -> Result<DataSet, Error> {
    let state = opened.database.state();
    match state.map_err(|error| server::refusal(&error))? {
        State::Absent if options.reuse => Err(Error::usage(
            "--reuse finds no brokerage there.",
            "Build one first with --keep or --build-only, or omit --reuse.",
        )),
        State::Absent => Ok(data_set),
        // A place of our own is nobody else's: its server did not run.
        State::Building(_) if !opened.was_there => Err(Error::environment(
            "There is a brokerage whose building was interrupted.",
            "Remove what is there (the same command without --reuse says how), and rebuild.",
        )),
        // Another run may be at it: it is ours, but not ours alone.
        State::Building(_) => Err(Error::environment(
            "There is a brokerage whose building was interrupted, or still goes on.",
            format!(
                "If no other run is at it, remove {} and rebuild.",
                opened.describe()
            ),
        )),
        State::Ready(build) if options.reuse => {
            let kept = DataSet::new(build.customers, build.trade_days, build.seed);
            let scale = |data_set: &DataSet| (data_set.customers(), data_set.trade_days());
            if request.is_sized && scale(&kept) != scale(&data_set) {
                let described = |(customers, days)| {
                    let customers = units::count_of(u64::from(customers));
                    let days = units::count(u64::from(days), "day");
                    format!("{customers} customers with {days} of trading")
                };
                return Err(Error::usage(
                    format!(
                        "The brokerage there has {}, and --target-size asks for {}.",
                        described(scale(&kept)),
                        described(scale(&data_set))
                    ),
                    "Omit --target-size to run on it as it is.",
                ));
            }
            let missing = missing_tables_and_indexes(&*opened.database);
            let missing = missing.map_err(|error| server::refusal(&error))?;
            if !missing.is_empty() {
                return Err(Error::environment(
                    format!(
                        "The brokerage there has lost tables or indexes: {}.",
                        missing.join(", ")
                    ),
                    "Somebody has removed them since it was built. Remove what is left of it, and \
                     rebuild it.",
                ));
            }
            Ok(kept)
        }
        State::Ready(build) => Err(Error::environment(
            format!(
                "There is a brokerage of {} customers already, which an earlier run kept.",
                units::count_of(u64::from(build.customers))
            ),
            format!(
                "Run on it with --reuse, name another place, or, if no run is at it, remove {}.",
                opened.describe()
            ),
        )),
    }
}
