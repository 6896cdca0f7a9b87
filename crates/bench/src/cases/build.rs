//! Building a database, beside fio writing a file of the same size in 512 KiB requests.

use super::Bench;
use crate::fio;
use crate::ratio::{Goal, Pairs};

/// One row: bytes built per second. Leaves the last database for the cases that follow.
///
/// # Errors
/// A sentence when a side cannot run.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let mut rate = Pairs::new(
        "building a database, beside sequential 512 KiB writes",
        "MB/s",
        Goal::AtLeast(0.7),
    );
    for round in 0..bench.rounds {
        let result = bench.build_afresh(&format!("build-{round}"), &[])?;
        let seconds = result
            .phases
            .iter()
            .find(|phase| phase.name == "build")
            .map(|phase| phase.duration_s)
            .ok_or("the result has no build phase")?;
        let database = bench.product.storage.join("mail-001/mail-001.edb");
        let bytes = std::fs::metadata(&database)
            .map_err(|error| format!("{}: {error}", database.display()))?
            .len() as f64;
        let file = bench.scratch.join("fio-sequential");
        fio::settle(&bench.scratch)?;
        let peer = fio::run(
            &format!(
                "[writes]\nfilename={}\nsize={}\nrw=write\nbs=512k\ndirect=1\n\
                 ioengine=io_uring\niodepth=4\nend_fsync=1\nunlink=1\n",
                file.display(),
                bytes as u64 / 524_288 * 524_288,
            ),
            &bench.scratch,
        )?;
        rate.add(bytes / seconds / 1e6, peer.write_bytes_per_second / 1e6);
    }
    Ok(vec![rate.row()])
}
