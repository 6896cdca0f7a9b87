//! A small language for end-to-end tests: run the binary as a user does, look at what it says.

#![allow(dead_code)] // Each test binary uses a part of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A scratch directory on a disk, with a place for storage under test and one for results.
pub struct Scratch(TempDir);

impl Scratch {
    /// A fresh one, below the build directory: /tmp may lie in memory.
    pub fn new() -> Self {
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A new empty directory in it.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("a new directory");
        path
    }

    /// A new file in it.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a new file");
        path
    }

    /// Runs `proofload` with these words, from within the scratch directory. `{}` stands for the
    /// scratch directory.
    pub fn proofload(&self, line: &str) -> Ended {
        let here = self.0.path().to_str().expect("a path in UTF-8");
        let words = line.split_whitespace().map(|word| word.replace("{}", here));
        Ended::of(proofload(self.0.path()).args(words))
    }
}

/// The program, not yet started.
pub fn proofload(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofload"));
    command.current_dir(directory).env("NO_COLOR", "1");
    command
}

/// A program that has ended.
pub struct Ended {
    line: String,
    /// What it printed as its result.
    pub stdout: String,
    /// What it said on the way.
    pub stderr: String,
    status: Option<i32>,
}

impl Ended {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        let line = format!("{command:?}");
        let output = command.output().expect("the program starts");
        Self::from_output(line, &output)
    }

    /// The end of a program that ran on its own.
    pub fn from_output(line: String, output: &Output) -> Self {
        Self {
            line,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status.code(),
        }
    }

    /// It ended with this status.
    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        let Self {
            line,
            stdout,
            stderr,
            ..
        } = &self;
        assert_eq!(self.status, Some(status), "{line}\n{stdout}\n{stderr}");
        self
    }

    /// It printed this.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text),
            "'{text}' is not in:\n{}",
            self.stdout
        );
        self
    }

    /// It said this on standard error.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "'{text}' is not in:\n{}",
            self.stderr
        );
        self
    }

    /// It printed nothing.
    #[track_caller]
    pub fn prints_nothing(self) -> Self {
        assert_eq!(self.stdout, "");
        self
    }
}
