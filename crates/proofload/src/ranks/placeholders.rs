//! Words in paths that differ from rank to rank: `{rank}` and `{host}`.

use std::path::PathBuf;

use ::ranks::Peers;
use execution::RunOptions;

use super::host_name;

/// The options with the words of this rank.
pub fn fill(options: &RunOptions, peers: &Peers) -> RunOptions {
    let rank = peers.rank();
    fill_as(options, rank, &peers.hosts()[rank])
}

/// The options of a process that is the only one: rank 0.
#[must_use]
pub fn alone(options: &RunOptions) -> RunOptions {
    fill_as(options, 0, &host_name())
}

fn fill_as(options: &RunOptions, rank: usize, host: &str) -> RunOptions {
    let text = |text: &str| filled(text, rank, host);
    let path = |path: &PathBuf| {
        path.to_str()
            .map_or_else(|| path.clone(), |path| PathBuf::from(text(path)))
    };
    let paths = |paths: &[PathBuf]| paths.iter().map(path).collect();
    RunOptions {
        on: paths(&options.on),
        log_on: paths(&options.log_on),
        copy_to: paths(&options.copy_to),
        backup_to: options.backup_to.as_ref().map(path),
        restore: options.restore.as_ref().map(path),
        database: options.database.as_deref().map(text),
        ..options.clone()
    }
}

fn filled(text: &str, rank: usize, host: &str) -> String {
    text.replace("{rank}", &rank.to_string())
        .replace("{host}", host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_its_own_path() {
        assert_eq!(
            filled("/mnt/{rank}/{host}-{rank}", 3, "db4"),
            "/mnt/3/db4-3"
        );
        assert_eq!(filled("/mnt/a", 3, "db4"), "/mnt/a");
        let given = || Some(PathBuf::from("/copies/{rank}"));
        let options = RunOptions {
            on: vec![PathBuf::from("/mnt/{host}")],
            backup_to: given(),
            restore: given(),
            ..RunOptions::default()
        };
        let own = fill_as(&options, 3, "db4");
        let copies = Some(PathBuf::from("/copies/3"));
        assert_eq!((&own.backup_to, &own.restore), (&copies, &copies));
        assert_eq!(own.on, [PathBuf::from("/mnt/db4")]);
    }
}
