use proptest::prelude::*;

use super::*;

fn header(page_size: usize, time: u64, stream: u64) -> DatabaseHeader {
    let moment = TimeAndPosition {
        time: LogTime { unix_ms: time },
        position: HeaderLogPosition::from_stream(stream, 1 << 20),
    };
    let created = LogTime { unix_ms: time };
    let mut header = DatabaseHeader::new(
        page_size as u32,
        Signature {
            random: 99,
            created,
        },
    );
    header.state = DatabaseState::Dirty;
    header.attach = moment;
    header.scan.current_start = created;
    header.scan.highest_page = 12;
    header.lowest_log_needed = 4;
    header
}

proptest! {
    #[test]
    fn headers_come_back(time in 1_u64..5_680_281_600_000, stream in 0_u64..1 << 40, size in 0_usize..4) {
        let size = PAGE_SIZES_BYTES[size];
        let header = header(size, time, stream);
        let mut page = vec![1; size];
        header.encode(&mut page);
        prop_assert_eq!(DatabaseHeader::decode(&page), Ok(header.clone()));
        prop_assert_eq!(header.attach.position.to_stream(1 << 20), stream);
    }
}

#[test]
fn the_second_copy_stands_in_for_a_damaged_first() {
    let header = header(4096, 1_700_000_000_123, 77);
    let (mut first, mut second) = (vec![0; 4096], vec![0; 4096]);
    header.encode(&mut first);
    header.encode(&mut second);
    first[700] ^= 1;
    assert_eq!(
        DatabaseHeader::decode(&first),
        Err(HeaderDamage::WrongChecksum)
    );
    assert_eq!(DatabaseHeader::choose(&first, &second), Ok(header));
    second[0] ^= 1;
    let damage = DatabaseHeader::choose(&first, &second);
    assert_eq!(damage, Err(HeaderDamage::WrongChecksum));
}

#[test]
fn other_bytes_are_no_header() {
    assert_eq!(
        DatabaseHeader::decode(&[0; 4096]),
        Err(HeaderDamage::NoMagic)
    );
    let mut page = vec![0; 32_768];
    header(32_768, 5, 5).encode(&mut page);
    let short = DatabaseHeader::decode(&page[..4096]);
    assert_eq!(short, Err(HeaderDamage::PageSize(32_768)));
    page[8] ^= 1;
    page[0] ^= 1;
    let version = HeaderDamage::Version {
        version: 0x621,
        revision: 0x14,
    };
    assert_eq!(DatabaseHeader::decode(&page), Err(version));
}
