//! What goes on beside the writing of a log: tasks for which a log that is closed waits, and readers whose
//! files are not used again before they were read.

use super::state::LogCore;

impl LogCore {
    /// A task has begun for which a log that is closed waits.
    pub(super) fn begin_task(&self) {
        self.tasks.set(self.tasks.get() + 1);
    }

    /// Such a task has ended.
    pub(super) fn end_task(&self) {
        self.tasks.set(self.tasks.get() - 1);
        self.advanced.notify_all();
    }

    /// A further reader of full files, which begins with that of `generation`. No file that it has not read
    /// is used again.
    pub(super) fn add_reader(&self, generation: u32) -> usize {
        let mut readers = self.replicated.borrow_mut();
        readers.push(generation);
        readers.len() - 1
    }

    /// A reader has read the files before `generation`.
    pub(super) fn has_read(&self, reader: usize, generation: u32) {
        self.replicated.borrow_mut()[reader] = generation;
    }

    /// Files before this generation may be removed or used again: the checkpoint has passed them,
    /// and every reader, too.
    pub(super) fn removable_before(&self) -> u32 {
        let released = self.released.get();
        let read = self.replicated.borrow().iter().copied().min();
        read.map_or(released, |read| released.min(read))
    }
}
