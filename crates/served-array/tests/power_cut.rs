//! A modelled array in tests, as others would write them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use served_array::{ArrayToServe, ServedArray, reason_to_skip};

const BLOCK: usize = 64 << 10;
const SHORT: Duration = Duration::from_millis(200);

/// The array, or nothing where none can be served.
fn started(array: ArrayToServe) -> Option<ServedArray> {
    if let Some(reason) = reason_to_skip() {
        test_support::skip(&reason);
        return None;
    }
    Some(array.start().expect("an array"))
}

fn opened(path: &Path) -> File {
    let opened = File::options().read(true).write(true).open(path);
    opened.expect("a volume")
}

fn write(volume: &File, offset: u64, byte: u8) {
    let written = volume.write_all_at(&[byte; BLOCK], offset);
    written.expect("written");
}

fn byte_at(volume: &File, offset: u64) -> u8 {
    let mut read = [0; BLOCK];
    volume.read_exact_at(&mut read, offset).expect("read");
    assert!(
        read.iter().all(|byte| *byte == read[0]),
        "one write as a whole"
    );
    read[0]
}

/// Writes one block that is flushed and one that is not, cuts the power, and returns what is left of both.
fn after_a_power_cut(array: &ServedArray) -> (u8, u8) {
    let volume = opened(&array.volume(1));
    write(&volume, 0, 1);
    volume.sync_all().expect("flushed");
    write(&volume, 1 << 20, 2);
    array.power_cut(SHORT).expect("a power cut");
    volume
        .read_at(&mut [0; 512], 0)
        .expect_err("what was open is gone");
    let again = opened(&array.volume(1));
    (byte_at(&again, 0), byte_at(&again, 1 << 20))
}

#[test]
fn a_battery_keeps_all_that_was_written() {
    if let Some(array) = started(ServedArray::of("msa2050").size("256MiB")) {
        assert_eq!(after_a_power_cut(&array), (1, 2));
    }
}

#[test]
fn without_a_battery_a_flush_keeps_what_was_written_before() {
    let array = ServedArray::of("msa2050")
        .size("256MiB")
        .without_batteries();
    if let Some(array) = started(array) {
        assert_eq!(after_a_power_cut(&array), (1, 0));
        assert!(
            array.said().iter().any(|line| line.contains("are lost")),
            "{:?}",
            array.said()
        );
    }
}

#[test]
fn a_cache_that_lies_about_flushes_loses_what_was_flushed() {
    let array = ServedArray::of("msa2050")
        .size("256MiB")
        .lying_about_flushes();
    if let Some(array) = started(array) {
        assert_eq!(after_a_power_cut(&array), (0, 0));
    }
}

#[test]
fn the_data_of_a_failed_disk_are_still_there() {
    let Some(array) = started(ServedArray::of("msa2050").size("256MiB").volumes(2)) else {
        return;
    };
    let volume = opened(&array.volume(2));
    write(&volume, 0, 7);
    let sentence = array.event("disk-fail 3").expect("an event");
    assert!(sentence.contains("disk 3"), "{sentence}");
    assert_eq!(byte_at(&volume, 0), 7);
    let state = array.state().expect("a state");
    assert!(state.events.iter().any(|event| event.what == "disk-fails"));
    drop(volume);
    let outcome = array.stop().expect("an orderly end");
    assert!(outcome.served.writes.count() > 0);
}

#[test]
fn what_cannot_be_served_is_refused_with_a_sentence() {
    if reason_to_skip().is_some() {
        return test_support::skip("there is no FUSE");
    }
    for (array, words) in [
        (ServedArray::of("msa2051"), "msa2051"),
        (ServedArray::of("msa2050").size("large"), "large is no size"),
        (ServedArray::of("msa2050").set("array.pool"), "has no value"),
        (
            ServedArray::of("msa2050").event("1s rain"),
            "there is no event 'rain'",
        ),
    ] {
        let error = array.start().expect_err("a refusal");
        assert!(format!("{error:?}").contains(words), "{error:?}");
    }
}
