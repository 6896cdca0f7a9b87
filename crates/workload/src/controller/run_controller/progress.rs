//! How far a stage is that handles a known number of bytes, and builds that go on.

use super::RunController;
use crate::controller::link::Stage;
use crate::controller::listener::RunListener;
use crate::progress::{ByteProgress, Phase};
use measure::result::GoneOnDatabase;
use measure::units;

impl RunController {
    /// A shard knows how much it has to handle. Among kept databases a build begins with that.
    pub(super) fn enter_total(
        &mut self,
        shard: usize,
        bytes: u64,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        let was_idle = self.totals.iter().all(|bytes| *bytes == 0);
        self.totals[shard] = bytes;
        if self.stage == Stage::Build && self.plan.reuse && was_idle {
            listener.begins(Phase::Building);
            listener.phase(Phase::Building, None);
            self.account.begin_span(Phase::Building, now_ns);
        }
    }

    pub(super) fn enter_progress(
        &mut self,
        shard: usize,
        bytes: u64,
        listener: &mut dyn RunListener,
    ) {
        self.progress[shard] = bytes;
        let total_bytes = self.totals.iter().sum();
        if total_bytes > 0 {
            self.phase_notice.notify(listener);
            listener.progress(ByteProgress {
                done_bytes: self.progress.iter().sum::<u64>().min(total_bytes),
                total_bytes,
            });
        }
    }

    /// The build of a database goes on that had been interrupted.
    pub(super) fn enter_build(
        &mut self,
        database: usize,
        found_bytes: u64,
        listener: &mut dyn RunListener,
    ) {
        let name = self.name_of(database);
        let text = format!(
            "{name}: its build goes on at {} of {}; what was there was read and is identical to what it writes",
            units::size(found_bytes),
            units::size(self.plan.database_bytes.max(found_bytes)),
        );
        listener.note(&text);
        self.account.note(format!("{text}."));
        self.account
            .build_goes_on(GoneOnDatabase { name, found_bytes });
    }
}
