//! Words in paths that differ from rank to rank: `{rank}` and `{host}`.

use std::path::PathBuf;

use ::ranks::Peers;
use execution::RunOptions;

/// The options with the words of this rank.
pub fn fill(options: &RunOptions, peers: &Peers) -> RunOptions {
    let rank = peers.rank();
    let host = peers.hosts()[rank].clone();
    let text = |text: &str| filled(text, rank, &host);
    let paths = |paths: &[PathBuf]| {
        let paths = paths.iter().map(|path| text(&path.to_string_lossy()));
        paths.map(PathBuf::from).collect()
    };
    RunOptions {
        on: paths(&options.on),
        log_on: paths(&options.log_on),
        copy_to: paths(&options.copy_to),
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
    }
}
