//! Audits with a witness of what lies on no file system of Proofload's own: a block device, and a database
//! of somebody else's server.

mod common;

use std::fs;
use std::path::Path;

use common::mariadb::MariaDb;
use common::witness::{Witness, audit, killed_run};
use common::{Ended, LoopDevice, SMALL, Scratch, WIDE, copy, proofload};

/// The lost transactions and all of them, as the answer says.
fn lost_of(ended: &Ended) -> (u64, u64) {
    let line = ended.stdout.lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.replace(',', "").parse().expect("a number");
    assert!(line.ends_with("acknowledged transactions lost"), "{line}");
    (number(words[0]), number(words[2]))
}

#[test]
fn a_database_on_a_block_device_is_audited() {
    let here = Scratch::new();
    let image = here.path("device");
    let Some(device) = LoopDevice::new(&image, 700 << 20) else {
        return test_support::skip("loop devices are not allowed here");
    };
    let witness = Witness::start(&here);
    let line = format!("{SMALL} {WIDE} --set engine.circular_logging=false");
    let line = line.replace("--on target", &format!("--on {}", device.path));
    let build = line.replace("run ", "run --build-only ");
    here.proofload(&build).exits(0);
    copy(&image, &here.path("older"));
    fs::remove_dir_all(here.path("out")).expect("the results of the build");
    let line = line.replace("--duration 2s", "--duration 10m");
    killed_run(
        &here,
        &format!("{line} --reuse {}", witness.options()),
        10_000,
    );
    copy(&image, &here.path("killed"));
    let (lost, all) = lost_of(&audit(&here, &witness, "out").exits(0));
    assert!(lost == 0 && all > 0, "{lost} of {all}");
    let put_back = |name: &str| {
        let mut bytes = fs::File::open(here.path(name)).expect("a copy");
        let mut device = fs::File::options()
            .write(true)
            .open(&device.path)
            .expect("the device");
        std::io::copy(&mut bytes, &mut device).expect("the device is written");
        device.sync_all().expect("the device is written");
    };
    put_back("older");
    let (lost, of) = lost_of(&audit(&here, &witness, "out").exits(4));
    assert!(lost == of && of == all, "{lost} of {of}, {all}");
    put_back("killed");
    let (lost, _) = lost_of(&audit(&here, &witness, "out").exits(0));
    assert_eq!(lost, 0);
}

#[test]
fn a_brokerage_on_mariadb_is_audited() {
    let here = Scratch::new();
    let Some(mut server) = MariaDb::new(&here) else {
        return;
    };
    let witness = Witness::start(&here);
    let line = common::brokerage::brokerage(&server.url()).replace("--on target", "");
    let build = line.replace("--keep", "--build-only");
    here.proofload(&build).exits(0);
    fs::remove_dir_all(here.path("out")).expect("the results of the build");
    let older = here.path("older");
    server.crash_and(|data| copy(data, &older));
    let line = line.replace("--keep", "--reuse");
    killed_run(&here, &format!("{line} {}", witness.options()), 5_000);
    let killed = here.path("killed");
    server.crash_and(|data| copy(data, &killed));
    let options = format!("{} --database {}", witness.options(), server.url());
    let audited = || here.proofload(&format!("audit out {options}"));
    let (lost, all) = lost_of(&audited().exits(0));
    assert!(lost == 0 && all > 0, "{lost} of {all}");
    let put_back = |from: &Path| {
        let from = from.to_owned();
        move |data: &Path| copy(&from, data)
    };
    server.crash_and(put_back(&older));
    let (lost, of) = lost_of(&audited().exits(4));
    assert_eq!((lost, of), (all, all));
    // Another run has gone on where the first one was killed.
    server.crash_and(put_back(&killed));
    fs::rename(here.path("out"), here.path("first")).expect("the results aside");
    let next = line.replace("--duration 10m", "--duration 1s");
    let ended = Ended::of(proofload(&here.path("")).args(next.split_whitespace()));
    assert!(matches!(ended.status, Some(0 | 1 | 5)), "{}", ended.stderr);
    here.proofload(&format!("audit first {options}"))
        .exits(5)
        .prints("Another run has worked on the database");
}
