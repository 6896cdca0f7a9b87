//! Assertions of the engine that fail, as messages instead of the end of the program.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static CATCHES: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

static HOOK: Once = Once::new();

/// Does `work`; if it panics, returns the message with its place, and prints nothing.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CATCHES.get() {
                MESSAGE.set(describe(info));
            } else {
                before(info);
            }
        }));
    });
    let outer = CATCHES.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CATCHES.set(outer);
    result.map_err(|_| MESSAGE.take())
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    match info.location() {
        Some(place) => format!("{text} ({}:{})", place.file(), place.line()),
        None => text,
    }
}
