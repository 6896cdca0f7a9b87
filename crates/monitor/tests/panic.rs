//! A program that panics while a view has the terminal gives it back before its message.

use std::io::Read;

use monitor::view::terminal;
use pty_process::blocking::{Command, open};
use rustix::termios::tcgetattr;

/// Set in the process that panics.
const PANICS: &str = "PROOFLOAD_TEST_PANICS_IN_VIEW";

#[test]
fn a_panic_gives_the_terminal_back() {
    if std::env::var_os(PANICS).is_some() {
        terminal::open().expect("a terminal");
        terminal::draw(|_| vec!["drawn".to_owned()]);
        panic!("something is wrong");
    }
    let (mut pty, child_end) = open().expect("a pseudo terminal");
    let before = tcgetattr(&pty).expect("its modes").local_modes;
    let itself = std::env::current_exe().expect("this program");
    let mut child = Command::new(itself)
        .args(["a_panic_gives_the_terminal_back", "--exact", "--nocapture"])
        .env(PANICS, "1")
        .spawn(child_end)
        .expect("it starts");
    let mut shown = Vec::new();
    // The end of the program is an error of the terminal.
    let _ = pty.read_to_end(&mut shown);
    child.wait().expect("its end");
    let shown = String::from_utf8_lossy(&shown);
    let drawn = shown.find("drawn").expect("a view");
    let given_back = shown.find("\x1b[?1049l").expect("it was given back");
    let message = shown.find("something is wrong").expect("a message");
    assert!(drawn < given_back && given_back < message, "{shown:?}");
    assert_eq!(tcgetattr(&pty).expect("its modes").local_modes, before);
}
