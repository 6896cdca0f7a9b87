//! What the kernel says about who uses a block device.

use std::fs;
use std::path::{Path, PathBuf};

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// `major:minor` of the device below it.
    pub device: String,
    /// Where it is mounted.
    pub at: String,
    /// Mount options of the file system itself, with commas between.
    options: String,
}

impl Mount {
    /// The value of an option of the file system, such as `upperdir`.
    pub fn option(&self, name: &str) -> Option<String> {
        let mut given = self.options.split(',');
        let value = given.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))?;
        Some(unescaped(value))
    }
}

/// The mounts in the text of `/proc/self/mountinfo`.
pub fn mounts(text: &str) -> Vec<Mount> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(2);
            let device = words.next()?.to_owned();
            let at = unescaped(words.nth(1)?);
            // Behind the dash: the type, what is mounted, and its own options.
            let (_, behind) = line.split_once(" - ")?;
            let options = behind.split(' ').nth(2).unwrap_or_default().to_owned();
            Some(Mount {
                device,
                at,
                options,
            })
        })
        .collect()
}

/// The devices in the text of `/proc/swaps`.
pub fn swaps(text: &str) -> Vec<PathBuf> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(|word| PathBuf::from(unescaped(word)))
        .collect()
}

/// The kernel writes blanks and the like as three octal digits behind a backslash.
fn unescaped(word: &str) -> String {
    let mut out = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|d| std::str::from_utf8(d).ok());
        let octal = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (first, octal) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                rest = &after[3..];
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The directory of a block device in `/sys`.
pub fn sys_directory(number: u64) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{}", packed(number)))
}

/// `major:minor` of a device number.
pub fn packed(number: u64) -> String {
    format!(
        "{}:{}",
        rustix::fs::major(number),
        rustix::fs::minor(number)
    )
}

/// The partitions of a device: their kernel names and their `major:minor`.
pub fn partitions(sys: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in names(sys) {
        let inner = sys.join(&name);
        if inner.join("partition").exists() {
            let number = read(&inner.join("dev"));
            found.push((name, number));
        }
    }
    found
}

/// The devices built on top of a device, such as a RAID or a logical volume.
pub fn holders(sys: &Path) -> Vec<String> {
    names(&sys.join("holders"))
}

/// Whether the kernel refuses to write to a device.
pub fn is_read_only(sys: &Path) -> bool {
    read(&sys.join("ro")) == "1"
}

/// A small file of `/sys`, trimmed; empty when there is none.
pub fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().to_owned()
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let entries = entries.filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The size that the kernel states for a device, which counts sectors of 512 bytes whatever the
/// device's own are.
pub fn device_size_bytes(number: u64) -> u64 {
    let sectors = read(&sys_directory(number).join("size"));
    sectors.parse::<u64>().unwrap_or(0) * 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_as_the_kernel_writes_them() {
        let text = "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw\n\
                    28 1 8:1 / / rw - ext4 /dev/sda1 rw\nnonsense\n";
        let found = mounts(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].device, "98:0");
        assert_eq!(found[0].at, "/mnt 2");
        assert_eq!(found[1].at, "/");
    }

    #[test]
    fn swaps_are_read_as_the_kernel_writes_them() {
        let text = "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition\t1\t0\t-2\n";
        assert_eq!(swaps(text), [PathBuf::from("/dev/sda2")]);
    }
}
