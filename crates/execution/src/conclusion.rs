//! The last word on a result.

use measure::result::RunResult;
use measure::{attribution, headline};
use workload::Profile;

/// Asks whether it was the storage that decided, and gives the answer as one sentence.
pub fn conclude(result: &mut RunResult, profile: &dyn Profile) {
    attribution::attribute(result);
    let load = profile.workload().contribution(result).load;
    result.headline = headline::compose(result, load.as_deref());
}
