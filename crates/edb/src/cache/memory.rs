//! The size of the cache follows the memory of the host.

use super::Cache;
use super::traits::{PageStore, Payload};
use runtime::time::MILLISECOND_NS;
use std::rc::Rc;

/// Time between two readings of the memory, in milliseconds.
const INTERVAL_MS: u64 = 100;

/// Memory that a cache may take beside what it has, in bytes; negative: that it has to give back.
pub type SpareMemory = Rc<dyn Fn() -> i64>;

impl<P: Payload, S: PageStore<P>> Cache<P, S> {
    /// From now on the cache grows while there is memory to spare, by half of it at each reading so that caches that
    /// fill cannot outrun what is known of the memory, and shrinks when it is short, within the sizes of its
    /// settings. Ends with the cache.
    pub fn follow_memory(&self, spare: SpareMemory) {
        let (handle, weak) = (self.inner.core.handle.clone(), self.downgrade());
        let page_bytes = self.inner.core.limits.settings.engine.page_bytes();
        drop(self.inner.core.handle.spawn(async move {
            while let Some(cache) = weak.upgrade() {
                cache.resize(next_size(
                    cache.inner.core.limits.capacity(),
                    spare(),
                    page_bytes,
                ));
                drop(cache);
                handle.sleep_ns(INTERVAL_MS * MILLISECOND_NS).await;
            }
        }));
    }
}

/// The pages that a cache of `pages` shall come to.
fn next_size(pages: usize, spare_bytes: i64, page_bytes: usize) -> usize {
    let bytes = spare_bytes.unsigned_abs() as usize;
    match spare_bytes < 0 {
        true => pages.saturating_sub(bytes.div_ceil(page_bytes)),
        false => pages.saturating_add(bytes / 2 / page_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::next_size;

    #[test]
    fn half_of_what_is_to_spare_is_taken_and_all_that_is_short_given_back() {
        assert_eq!(next_size(100, 8 * 4096 + 1, 4096), 104);
        assert_eq!(next_size(100, 0, 4096), 100);
        assert_eq!(next_size(100, -1, 4096), 99);
        assert_eq!(next_size(100, -8 * 4096, 4096), 92);
        assert_eq!(next_size(100, i64::MIN, 4096), 0);
        assert_eq!(
            next_size(100, i64::MAX, 4096),
            100 + (i64::MAX / 8192) as usize
        );
    }
}
