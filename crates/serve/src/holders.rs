//! Who has files open below a directory.

use std::fs;
use std::path::Path;

/// Processes and loop devices that have something open below `at`, in words. What belongs to other users is not
/// seen by anybody but root.
pub(crate) fn holders_of(at: &Path) -> Vec<String> {
    let mut holders = loop_devices(at);
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        let Some(number) = name.to_str().filter(|name| name.parse::<u32>().is_ok()) else {
            continue;
        };
        if uses(&process.path(), at) {
            let command = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            holders.push(format!("{} (process {number})", command.trim()));
        }
    }
    holders
}

/// Whether a process has a file open below `at`, or works there.
fn uses(process: &Path, at: &Path) -> bool {
    let leads_there = |link: &Path| fs::read_link(link).is_ok_and(|to| to.starts_with(at));
    let mut files = fs::read_dir(process.join("fd")).into_iter().flatten();
    leads_there(&process.join("cwd"))
        || files.any(|file| file.is_ok_and(|file| leads_there(&file.path())))
}

fn loop_devices(at: &Path) -> Vec<String> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let attached = devices.filter(|device| {
        let file = fs::read_to_string(device.path().join("loop/backing_file"));
        file.is_ok_and(|file| Path::new(file.trim_end()).starts_with(at))
    });
    attached
        .map(|device| {
            Path::new("/dev")
                .join(device.file_name())
                .display()
                .to_string()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_an_open_file_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = directory.path().canonicalize().expect("its path");
        let own = format!("(process {})", std::process::id());
        let is_named = || holders_of(&at).iter().any(|holder| holder.ends_with(&own));
        assert!(!is_named());
        let file = fs::File::create(at.join("file")).expect("a file");
        assert!(is_named());
        drop(file);
        assert!(!is_named());
    }
}
