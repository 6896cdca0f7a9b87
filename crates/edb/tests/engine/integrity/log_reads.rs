//! Reads of log files that return wrong bytes once.

use super::*;
use edb::integrity::{FileFinding, Persistence as Lasting};
use runtime::IoOperation;
use runtime::simulated::{Fault, FaultEffect};

const ONCE: Lasting = Lasting::Transient { wrong_reads: 1 };

/// The next so many reads of this log file return a wrong bit. The file on the disk is right.
fn flip_reads(life: &Life, name: &str, reads: u64) {
    let fault = Fault {
        count: reads,
        ..Fault::once(IoOperation::Read, 1, FaultEffect::FlipBit)
    };
    life.disk.set_fault(fault.on_file(name));
}

fn of_files(damage: &[Damage]) -> Vec<FileFinding> {
    let of_file = |one: &Damage| match one {
        Damage::File(finding) => Some(finding.clone()),
        Damage::Page(_) => None,
    };
    damage.iter().filter_map(of_file).collect()
}

#[test]
fn a_log_file_that_is_read_wrong_once_while_it_is_in_use_is_reported() {
    for (wrong_reads, persistence) in [
        (1, ONCE),
        (3, Lasting::Transient { wrong_reads: 3 }),
        (4, Lasting::Medium { reads: 4 }),
    ] {
        on_virtual_clock(async move |handle| {
            let life = Life::begin(&handle, 3).await;
            assert_eq!(life.found_in_use().await, []);
            let name = life.full_logs().await.pop().unwrap();
            flip_reads(&life, &name, wrong_reads);
            let damage = life.found_in_use().await;
            let found = of_files(&damage);
            assert_eq!((found.len(), damage.len()), (1, 1), "{damage:?}");
            assert!(found[0].file.ends_with(&name), "{damage:?}");
            assert_eq!(found[0].persistence, persistence, "{damage:?}");
        });
    }
}

#[test]
fn a_log_file_that_is_read_wrong_once_after_the_run_is_no_lost_write() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 5).await;
        let state = life.close().await;
        let name = life.full_logs().await.remove(0);
        flip_reads(&life, &name, 1);
        let found = life.verify(&state).await.log.findings;
        let shown = found.iter().map(ToString::to_string).collect::<String>();
        assert_eq!(found.len(), 1, "{shown}");
        assert_eq!(found[0].persistence, ONCE);
        assert!(
            shown.ends_with("wrong in one read, right in the next)"),
            "{shown}"
        );
        // Nothing is wrong on the disk.
        assert!(is_sound(&life.verify(&state).await));
    });
}
