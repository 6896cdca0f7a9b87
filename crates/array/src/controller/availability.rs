//! Whether a controller works, and how it fails and comes back.

/// What a controller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The controller serves requests.
    Working,
    /// It works again, but everything it had at the back end when it failed has to end first.
    Returning,
    /// It has failed. Its failover partner takes its volumes over once the time for that has come
    /// and nothing of it is left at the back end.
    Failed { takeover_due: bool },
}

/// Whether a controller works, and whether its cache would survive a loss of power.
#[derive(Debug)]
pub(crate) struct Availability {
    state: State,
    battery_works: bool,
    /// How often it has failed or been restored.
    generation: u32,
}

impl Default for Availability {
    fn default() -> Self {
        Self {
            state: State::Working,
            battery_works: true,
            generation: 0,
        }
    }
}

impl Availability {
    /// Whether it takes requests in, even if it does not serve them yet.
    #[inline]
    pub fn works(&self) -> bool {
        matches!(self.state, State::Working | State::Returning)
    }

    /// Whether it works, and nothing is left from before its last failure.
    #[inline]
    pub fn serves(&self) -> bool {
        self.state == State::Working
    }

    /// Whether it works again and waits for what is left from before.
    pub fn is_returning(&self) -> bool {
        self.state == State::Returning
    }

    /// Whether the failover partner may take over.
    pub fn is_takeover_due(&self) -> bool {
        self.state == State::Failed { takeover_due: true }
    }

    /// A number that changes whenever the controller fails or is restored: it distinguishes what
    /// was begun before from what was begun after.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether the cache would survive a loss of power.
    #[inline]
    pub fn battery_works(&self) -> bool {
        self.battery_works
    }

    /// The battery of the cache fails or works again.
    pub fn set_battery(&mut self, works: bool) {
        self.battery_works = works;
    }

    /// The controller fails. Its generation changes, so that what it had sent is recognized as old.
    pub fn fail(&mut self) {
        debug_assert!(self.works(), "a failed controller cannot fail");
        self.state = State::Failed {
            takeover_due: false,
        };
        self.generation += 1;
    }

    /// The controller is repaired; it works again once what it had at the back end has ended.
    pub fn restore(&mut self) {
        debug_assert!(!self.works(), "only a failed controller is restored");
        self.state = State::Returning;
        self.generation += 1;
    }

    /// Nothing is left from before its failure.
    pub fn return_to_service(&mut self) {
        debug_assert!(self.is_returning());
        self.state = State::Working;
    }

    /// The time for a takeover has come, which was set when the controller was of that generation;
    /// says whether it is still in the same failure.
    pub fn allow_takeover(&mut self, generation: u32) -> bool {
        let same_failure = !self.works() && self.generation == generation;
        if same_failure {
            self.state = State::Failed { takeover_due: true };
        }
        same_failure
    }

    /// The takeover happens now or not at all.
    pub fn end_takeover(&mut self) {
        debug_assert!(self.is_takeover_due());
        self.state = State::Failed {
            takeover_due: false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_fails_is_taken_over_and_returns() {
        let mut controller = Availability::default();
        assert!(controller.serves());
        controller.fail();
        let failed = controller.generation();
        assert!(!controller.works() && !controller.is_takeover_due());
        assert!(controller.allow_takeover(failed));
        assert!(controller.is_takeover_due());
        controller.end_takeover();
        assert!(!controller.is_takeover_due());
        controller.restore();
        assert!(controller.works() && !controller.serves());
        controller.return_to_service();
        assert!(controller.serves());
        assert_ne!(controller.generation(), failed);
    }

    #[test]
    fn a_takeover_of_an_earlier_failure_is_not_allowed() {
        let mut controller = Availability::default();
        controller.fail();
        let first = controller.generation();
        controller.restore();
        assert!(!controller.allow_takeover(first), "it works again");
        controller.fail();
        assert!(!controller.allow_takeover(first), "it failed again");
        assert!(controller.allow_takeover(controller.generation()));
    }
}
