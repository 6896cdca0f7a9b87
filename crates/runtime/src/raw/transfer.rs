//! Requests on ranges that may lie in several places of the device.
//!
//! Nearly always a range lies in one piece and is one request. Where it does not, each buffer is
//! moved by requests of its own, through copies where a border runs through a buffer.

use super::entry::Extent;
use crate::buffer::{Buffer, SharedBuffer};
use crate::file::{File, IoFailure, Persistence};
use std::rc::Rc;

/// The pieces of a range of a file: for each its place in the space for files and its length.
pub(super) fn split(
    extents: &[Extent],
    unit_bytes: u64,
    offset_bytes: u64,
    length_bytes: u64,
) -> Vec<(u64, u64)> {
    let mut pieces = Vec::with_capacity(1);
    let mut extent_start_bytes = 0;
    let end_bytes = offset_bytes + length_bytes;
    for extent in extents {
        let extent_end_bytes = extent_start_bytes + extent.units * unit_bytes;
        let start_bytes = offset_bytes.max(extent_start_bytes);
        let stop_bytes = end_bytes.min(extent_end_bytes);
        if start_bytes < stop_bytes {
            let place = extent.first_unit * unit_bytes + (start_bytes - extent_start_bytes);
            pieces.push((place, stop_bytes - start_bytes));
        }
        extent_start_bytes = extent_end_bytes;
    }
    let found_bytes: u64 = pieces.iter().map(|(_, length)| length).sum();
    assert_eq!(found_bytes, length_bytes, "a file lies inside its space");
    pieces
}

/// The part of `places` that a buffer of `length_bytes` covers from their start on; the rest stays.
fn take_front(places: &mut Vec<(u64, u64)>, length_bytes: u64) -> Vec<(u64, u64)> {
    let mut front = Vec::new();
    let mut missing_bytes = length_bytes;
    while missing_bytes > 0 {
        let (place, length) = places[0];
        let taken_bytes = length.min(missing_bytes);
        front.push((place, taken_bytes));
        missing_bytes -= taken_bytes;
        if taken_bytes == length {
            places.remove(0);
        } else {
            places[0] = (place + taken_bytes, length - taken_bytes);
        }
    }
    front
}

/// Fills `buffers` from `places`.
pub(super) async fn read_across<F: File>(
    device: &F,
    places: &[(u64, u64)],
    mut buffers: Vec<Buffer>,
) -> (Vec<Buffer>, Result<(), IoFailure>) {
    if let [(place, _)] = places {
        if buffers.len() > 1 {
            let (buffers, result) = device.read_vectored(*place, buffers).await;
            return (buffers, result.map_err(|error| error.failure));
        }
        if let Some(buffer) = buffers.pop() {
            let (buffer, result) = device.read(*place, buffer).await;
            buffers.push(buffer);
            return (buffers, result.map_err(|error| error.failure));
        }
    }
    let mut places = places.to_vec();
    for buffer in &mut buffers {
        let mut at = 0;
        for (place, length_bytes) in take_front(&mut places, buffer.len() as u64) {
            let length = length_bytes as usize;
            let (piece, result) = device.read(place, Buffer::zeroed(length)).await;
            if let Err(error) = result {
                return (buffers, Err(error.failure));
            }
            buffer[at..at + length].copy_from_slice(&piece);
            at += length;
        }
    }
    (buffers, Ok(()))
}

/// Writes `buffers` to `places`.
pub(super) async fn write_across<F: File>(
    device: &F,
    places: &[(u64, u64)],
    mut buffers: Vec<SharedBuffer>,
    persistence: Persistence,
) -> Result<(), IoFailure> {
    if let [(place, _)] = places {
        let result = if buffers.len() == 1 {
            device.write(*place, buffers.remove(0), persistence).await
        } else {
            device.write_vectored(*place, buffers, persistence).await
        };
        return result.map_err(|error| error.failure);
    }
    let mut places = places.to_vec();
    for buffer in buffers {
        let front = take_front(&mut places, buffer.len() as u64);
        let mut at = 0;
        for (place, length_bytes) in &front {
            let length = *length_bytes as usize;
            let piece = if front.len() == 1 {
                Rc::clone(&buffer)
            } else {
                let mut piece = Buffer::zeroed(length);
                piece.copy_from_slice(&buffer[at..at + length]);
                Rc::new(piece)
            };
            let result = device.write(*place, piece, persistence).await;
            result.map_err(|error| error.failure)?;
            at += length;
        }
    }
    Ok(())
}
