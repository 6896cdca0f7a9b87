//! Faults done to the copies of the header and of the checkpoint.

use super::*;

/// What is done to a copy of the header or of the checkpoint, in use or at rest.
async fn harm_copy(file: &SimulatedFile, offset: u64, how: FileClass, earlier: &Buffer) {
    let mut bytes = bytes_of(file, offset, PAGE).await;
    match how {
        FileClass::Checksum => bytes[200] ^= 8,
        FileClass::Zeroed => bytes.fill(0),
        _ => bytes.copy_from_slice(&earlier[offset as usize..(offset + PAGE) as usize]),
    }
    put(file, offset, &bytes).await;
}

const COPY_CLASSES: [FileClass; 3] = [FileClass::Checksum, FileClass::Zeroed, FileClass::LostWrite];

/// When a copy is harmed, and what looks at it then.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// The database is in use, and the copies are read back now and then.
    InUse,
    /// The database is in use, and the copy is written over before its next turn.
    InUseAndOverwritten,
    AtRest,
}

#[test]
fn headers_and_checkpoints_are_compared_with_what_was_written() {
    for class in COPY_CLASSES {
        for copy in [1, 2_u8] {
            for when in [When::InUse, When::InUseAndOverwritten, When::AtRest] {
                for checkpoint in [false, true] {
                    on_virtual_clock(async move |handle| {
                        copies(&handle, class, copy, when, checkpoint).await;
                    });
                }
            }
        }
    }
}

async fn copies(handle: &Handle, class: FileClass, copy: u8, when: When, checkpoint: bool) {
    let mut settings = watchful_settings();
    if when == When::InUseAndOverwritten {
        settings.maintenance.header_read_back_interval = Some(TimeSpan::seconds(3_600));
    }
    let life = Life::begin_with(handle, 21, settings).await;
    let file = match checkpoint {
        true => life.log_file("E00.chk").await,
        false => life.database_file().await,
    };
    // The checkpoint moves every second.
    handle.sleep_ns(2 * SECOND_NS).await;
    let earlier = bytes_of(&file, 0, 2 * PAGE).await;
    life.work(22).await;
    let offset = u64::from(copy - 1) * PAGE;
    let part = match checkpoint {
        true => FilePart::Checkpoint { copy },
        false => FilePart::Header { copy },
    };
    let in_use = match when {
        When::AtRest => {
            let state = life.close().await;
            harm_copy(&file, offset, class, &earlier).await;
            let found = life.verify(&state).await;
            assert_eq!(found.copies.len(), 1, "{found:?}");
            let finding = &found.copies[0];
            assert_eq!((finding.part, finding.class), (part, class), "{when:?}");
            return;
        }
        When::InUse => {
            handle.sleep_ns(2 * SECOND_NS).await;
            harm_copy(&file, offset, class, &earlier).await;
            life.found_in_use().await
        }
        When::InUseAndOverwritten => {
            handle.sleep_ns(2 * SECOND_NS).await;
            harm_copy(&file, offset, class, &earlier).await;
            life.work(23).await;
            life.db.close().await.unwrap();
            let damage = life.db.take_damage();
            let found = life.verify(&life.db.closed_state()).await;
            assert!(is_sound(&found), "it has been written over: {found:?}");
            damage
        }
    };
    assert_eq!(in_use.len(), 1, "{class:?} {part:?} {when:?}: {in_use:?}");
    let Damage::File(finding) = &in_use[0] else {
        panic!("{in_use:?}");
    };
    assert_eq!((finding.part, finding.class), (part, class), "{when:?}");
}
