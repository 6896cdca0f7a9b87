//! What the WebAssembly module exports, and what it imports. The page writes a request into the buffer that [`buffer`]
//! gives, and reads the answer of [`run`] at [`answer_address`].

use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::progress::{Progress, Report};
use crate::request::answer;

/// Models look things up in tables of many megabytes, of which they touch few.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: runtime::FreshZeros = runtime::FreshZeros;

static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());

/// A buffer of this length for the text of a request.
#[allow(unsafe_code)] // The name is the program's own; nothing else can have it.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(length: usize) -> *mut u8 {
    let mut request = locked(&REQUEST);
    request.clear();
    request.resize(length, 0);
    request.as_mut_ptr()
}

/// Answers the request in the buffer: the length of the answer in bytes.
#[allow(unsafe_code)] // As above.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    std::panic::set_hook(Box::new(|panic| host::panicked(&panic.to_string())));
    let request = String::from_utf8_lossy(&locked(&REQUEST)).into_owned();
    let report: Report = Rc::new(|progress: &Progress| {
        host::progressed(&serde_json::to_string(progress).unwrap_or_default());
    });
    let text = answer(&request, &report);
    let length = text.len();
    *locked(&ANSWER) = text;
    length
}

/// Where the answer begins in memory.
#[allow(unsafe_code)] // As above.
#[unsafe(no_mangle)]
pub extern "C" fn answer_address() -> *const u8 {
    locked(&ANSWER).as_ptr()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the page does for the module.
#[cfg(target_family = "wasm")]
mod host {
    #[allow(unsafe_code)] // Each takes the place of a text in memory and only reads it.
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        safe fn progress(address: *const u8, length: usize);
        safe fn panic(address: *const u8, length: usize);
    }

    pub(super) fn progressed(text: &str) {
        progress(text.as_ptr(), text.len());
    }

    pub(super) fn panicked(text: &str) {
        panic(text.as_ptr(), text.len());
    }
}

/// Elsewhere nobody listens.
#[cfg(not(target_family = "wasm"))]
mod host {
    pub(super) fn progressed(_: &str) {}

    pub(super) fn panicked(text: &str) {
        eprintln!("{text}");
    }
}
