//! A socket on which a served array is asked for events: a line each way.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::socket_file::{SocketError, SocketFile};

/// Longest line.
const LINE_BYTES: u64 = 4096;
/// Who asks has so long to do it, and to take the answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer is waited for: others may ask before, and the model may be behind.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
const CARRIED_OUT: &str = "ok ";
const REFUSED: &str = "refused ";

/// A socket that is listened on until this is dropped.
#[derive(Debug)]
pub struct ControlSocket(#[expect(dead_code, reason = "it is removed with this")] SocketFile);

impl ControlSocket {
    /// Listens on a socket at `path`, which nobody but its owner can use; one that a killed server has left is
    /// replaced. `carry_out` answers each line with a sentence, of what happened or why nothing did.
    ///
    /// # Errors
    /// A program listens there, something else is there, or the system refuses it.
    pub fn listen(
        path: &Path,
        carry_out: impl Fn(&str) -> Result<String, String> + Send + 'static,
    ) -> Result<Self, SocketError> {
        let (listener, file) = SocketFile::listen(path)?;
        let thread = thread::Builder::new().name("control".to_owned());
        let spawned = thread.spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who goes away without his answer has it all the same.
                let _ = serve_one(&stream, &carry_out);
            }
        });
        spawned.map_err(|error| SocketError::System(path.to_owned(), error))?;
        Ok(Self(file))
    }
}

fn serve_one(
    mut stream: &UnixStream,
    carry_out: &impl Fn(&str) -> Result<String, String>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE_BYTES)).read_line(&mut line)?;
    let answer = match carry_out(line.trim()) {
        Ok(sentence) => format!("{CARRIED_OUT}{sentence}\n"),
        Err(sentence) => format!("{REFUSED}{sentence}\n"),
    };
    stream.write_all(answer.as_bytes())
}

/// Asks the array that listens at `path` for an event, and gives its answer: what happened, or why nothing did.
///
/// # Errors
/// Nobody listens there, or no answer came.
pub fn ask(path: &Path, event: &str) -> io::Result<Result<String, String>> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    stream.write_all(format!("{event}\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let answer = answer.trim_end();
    if let Some(sentence) = answer.strip_prefix(CARRIED_OUT) {
        return Ok(Ok(sentence.to_owned()));
    }
    let sentence = answer.strip_prefix(REFUSED);
    let sentence = sentence.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(Err(sentence.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered_one_after_the_other() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        let answer = |line: &str| match line {
            "disk-fail 3" => Ok("It fails.".to_owned()),
            other => Err(format!("There is no {other}.")),
        };
        let socket = ControlSocket::listen(&path, answer).expect("a socket");
        let asked = |event: &str| ask(&path, event).expect("an answer");
        assert_eq!(asked("disk-fail 3"), Ok("It fails.".to_owned()));
        assert_eq!(asked("rain"), Err("There is no rain.".to_owned()));
        let again = ControlSocket::listen(&path, |_| Err(String::new()));
        assert!(matches!(again, Err(SocketError::InUse(_))), "{again:?}");
        assert_eq!(asked("disk-fail 3"), Ok("It fails.".to_owned()));
        drop(socket);
        assert!(!path.exists());
    }
}
