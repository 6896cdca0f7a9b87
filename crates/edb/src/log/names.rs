//! What the files of a log are called.

/// The names of the files of one log, which all begin with its prefix, such as `E00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    prefix: String,
}

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// The file being written.
    pub(super) fn current(&self) -> String {
        format!("{}.log", self.prefix)
    }

    /// The file that will be written next.
    pub(super) fn next(&self) -> String {
        format!("{}tmp.log", self.prefix)
    }

    /// A file that is full.
    pub(super) fn full(&self, generation: u32) -> String {
        format!("{}{generation:08X}.log", self.prefix)
    }

    /// A file kept for a full disk; `number` from 1.
    pub(super) fn reserve(&self, number: u32) -> String {
        format!("{}res{number:05}.jrs", self.prefix)
    }

    /// Whether `name` is that of a file kept for a full disk.
    pub(super) fn is_reserve(&self, name: &str) -> bool {
        name.starts_with(&format!("{}res", self.prefix))
    }

    /// The generation of a full file, if `name` is one of this log.
    pub(super) fn generation_of(&self, name: &str) -> Option<u32> {
        let digits = name.strip_prefix(&self.prefix)?.strip_suffix(".log")?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
        if digits.len() != 8 || !digits.bytes().all(is_hex) {
            return None;
        }
        u32::from_str_radix(digits, 16).ok()
    }

    /// Whether `name` is one of the files that hold or will hold records.
    pub(super) fn is_log(&self, name: &str) -> bool {
        name == self.current() || name == self.next() || self.generation_of(name).is_some()
    }
}

/// Whether `name` is that of the file being written of the log with this prefix, or of a full one of
/// generation `first` or a later one.
pub(crate) fn is_needed_from(prefix: &str, name: &str, first: u32) -> bool {
    let names = Names::new(prefix);
    let generation = names.generation_of(name);
    name == names.current() || generation.is_some_and(|generation| generation >= first)
}

/// The name of a full file of the log with this prefix.
pub(crate) fn full_name(prefix: &str, generation: u32) -> String {
    Names::new(prefix).full(generation)
}

/// The name of the checkpoint file of the log with this prefix.
pub(crate) fn checkpoint_name(prefix: &str) -> String {
    format!("{prefix}.chk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_files_are_numbered_in_hexadecimal() {
        let names = Names::new("E00");
        assert_eq!(names.full(0x1A2B), "E0000001A2B.log");
        assert_eq!(names.generation_of("E0000001A2B.log"), Some(0x1A2B));
        for other in [
            "E00.log",
            "E00tmp.log",
            "E0000001a2b.log",
            "E0100001A2B.log",
        ] {
            assert_eq!(names.generation_of(other), None, "{other}");
        }
        let needed = |name| is_needed_from("E00", name, 0x1A2B);
        assert!(needed("E0000001A2B.log") && needed("E00.log"));
        assert!(!needed("E0000001A2A.log") && !needed("E00tmp.log") && !needed("E00.chk"));
    }
}
