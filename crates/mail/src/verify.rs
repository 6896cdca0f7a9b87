//! The pass over a closed database that verifies the checksum of every page.

use edb::format::page::{PageDamage, verify};
use runtime::{Buffer, Directory, File};
use workload::controller::host::Progress;
use workload::failure::{Failure, FailureKind};

/// Bytes of one read.
const READ_BYTES: u64 = 1 << 20;

/// Reads every page of the file `name` and verifies it. Pages that were never written are in order.
///
/// # Errors
/// The first bad page, or as the storage fails.
pub async fn verify_pages<D: Directory>(
    directory: &D,
    name: &str,
    page_bytes: u64,
    progress: &Progress,
) -> Result<(), Failure> {
    let failure = |error| Failure::of_io(&error, "verifying checksums");
    let file = directory.open(name).await.map_err(failure)?;
    let size = file.size_bytes().await.map_err(failure)?;
    let mut offset = 2 * page_bytes;
    let mut buffer = Buffer::zeroed(READ_BYTES as usize);
    while offset + page_bytes <= size {
        let length = (size - offset).min(READ_BYTES) / page_bytes * page_bytes;
        if length != buffer.len() as u64 {
            buffer = Buffer::zeroed(length as usize);
        }
        let (read, result) = file.read(offset, buffer).await;
        result.map_err(failure)?;
        for (index, page) in read.chunks_exact(page_bytes as usize).enumerate() {
            // The first page after the two headers has number 1.
            let number = offset / page_bytes - 1 + index as u64;
            match verify(page, number as u32) {
                Ok(()) | Err(PageDamage::NeverWritten) => {}
                Err(damage) => {
                    return Err(Failure {
                        kind: FailureKind::Integrity,
                        file: file.name(),
                        page: Some(number),
                        operation: "verifying checksums".to_owned(),
                        error: format!("the page is damaged: {damage}"),
                    });
                }
            }
        }
        buffer = read;
        offset += length;
        if !progress(offset) {
            return Err(Failure {
                kind: FailureKind::Stopped,
                file: file.name(),
                page: None,
                operation: "verifying checksums".to_owned(),
                error: "the verification was stopped before its end".to_owned(),
            });
        }
    }
    Ok(())
}
