//! Records, compressed values and text, whole and damaged.

use proptest::prelude::*;

use super::*;
use crate::format::catalog::{catalog_definition, system_rows};
use crate::format::page::PAGE_SIZES_BYTES;
use crate::format::record::{Field, RecordLayout};
use crate::format::schema::{CODE_PAGE_UTF16, ColumnType, TableDefinition};

fn part(bytes: &[u8]) -> Part<'_> {
    Part {
        bytes,
        separated: false,
        compressed: false,
        encrypted: false,
    }
}

/// A record with nothing but tagged values, given as column, bits of the offset word and bytes.
fn tagged_record(values: &[(u16, u16, &[u8])]) -> Vec<u8> {
    let mut record = vec![0, 127, 4, 0];
    let mut offset = 4 * values.len() as u16;
    for (id, bits, bytes) in values {
        record.extend(id.to_le_bytes());
        record.extend((offset | bits).to_le_bytes());
        offset += bytes.len() as u16;
    }
    for (_, _, bytes) in values {
        record.extend_from_slice(bytes);
    }
    record
}

#[test]
fn records_of_this_project_are_read() {
    let definition = TableDefinition::new("t")
        .fixed("A", ColumnType::Long, 0)
        .fixed("B", ColumnType::Short, 0)
        .variable("C", ColumnType::Binary)
        .variable("D", ColumnType::Binary)
        .tagged("E", ColumnType::LongBinary)
        .tagged("F", ColumnType::Long);
    for page_size in PAGE_SIZES_BYTES {
        let layout = RecordLayout::new(&definition.columns, page_size);
        let fields = [
            Field::Null,
            Field::Short(-2),
            Field::Bytes(b""),
            Field::Bytes(b"data"),
            Field::LongValue(77),
            Field::Long(5),
        ];
        let bytes = layout.encode(&fields).unwrap();
        let record = GeneralRecord::new(&bytes, page_size).unwrap();
        assert_eq!(record.fixed(1, 4, 4), Ok(Stored::Null));
        assert_eq!(record.fixed(2, 8, 2), Ok(Stored::One(part(&[0xFE, 0xFF]))));
        assert_eq!(record.fixed(3, 10, 2), Ok(Stored::Absent));
        assert!(record.fixed(2, 8, 4).is_err());
        assert_eq!(record.variable(128), Stored::One(part(b"")));
        assert_eq!(record.variable(129), Stored::One(part(b"data")));
        assert_eq!(record.variable(130), Stored::Absent);
        let reference = Part {
            separated: true,
            ..part(&[77, 0, 0, 0])
        };
        assert_eq!(record.tagged(256, false), Ok(Stored::One(reference)));
        assert_eq!(record.tagged(256, true), Ok(Stored::Absent));
        let five = Stored::One(part(&[5, 0, 0, 0]));
        assert_eq!(record.tagged(257, false), Ok(five.clone()));
        assert_eq!(record.all_tagged().unwrap()[1], five);
        assert_eq!(record.tagged(300, false), Ok(Stored::Absent));
    }
}

#[test]
fn columns_may_have_several_values() {
    // Two values; three values, the second outside the record, the first compressed.
    let two = b"\x18\x02abcde";
    let three = b"\x0A\x06\x00\x08\x80\x0C\x00XY\x07\x00\x00\x00end";
    let record = tagged_record(&[(256, 0, two), (257, 0, three)]);
    let record = GeneralRecord::new(&record, 32_768).unwrap();
    let expected = Stored::Many(vec![part(b"ab"), part(b"cde")]);
    assert_eq!(record.tagged(256, false), Ok(expected));
    let expected = Stored::Many(vec![
        Part {
            compressed: true,
            ..part(b"XY")
        },
        Part {
            separated: true,
            ..part(&[7, 0, 0, 0])
        },
        part(b"end"),
    ]);
    assert_eq!(record.tagged(257, false), Ok(expected));
}

#[test]
fn small_pages_say_in_the_offset_what_a_value_is() {
    let record = tagged_record(&[
        (256, 0, b"plain"),
        (257, 0x4000, b"\x01flagged"),
        (258, 0x2000, b""),
        (259, 0x8000, b"template"),
        (260, 0x4000, b"\x41secret"),
    ]);
    let record = GeneralRecord::new(&record, 4096).unwrap();
    assert_eq!(record.tagged(256, false), Ok(Stored::One(part(b"plain"))));
    assert_eq!(record.tagged(257, false), Ok(Stored::One(part(b"flagged"))));
    assert_eq!(record.tagged(258, false), Ok(Stored::Null));
    assert_eq!(record.tagged(259, false), Ok(Stored::Absent));
    assert_eq!(record.tagged(259, true), Ok(Stored::One(part(b"template"))));
    let Ok(Stored::One(secret)) = record.tagged(260, false) else {
        panic!("a value");
    };
    assert!(secret.encrypted);
}

#[test]
fn compressed_values_are_expanded() {
    // "abcdefgh" in seven bytes, "ab" in two with two bits of the last one unused.
    let packed = [0x61_u8, 0xF1, 0x98, 0x5C, 0x36, 0x9F, 0xD1];
    assert_eq!(
        expand(&[&[0x0F], &packed[..]].concat()).unwrap(),
        b"abcdefgh"
    );
    assert_eq!(expand(&[0x0D, 0x61, 0x31]).unwrap(), b"ab");
    assert_eq!(expand(&[0x15, 0x61, 0x31]).unwrap(), b"a\0b\0");
    // Both examples of [MS-XCA], 3.1: no match, and one of 297 bytes.
    let alphabet = b"\x18\x1A\x00\x3F\x00\x00\x00abcdefghijklmnopqrstuvwxyz";
    assert_eq!(expand(alphabet).unwrap(), b"abcdefghijklmnopqrstuvwxyz");
    let repeated = b"\x18\x2C\x01\xFF\xFF\xFF\x1Fabc\x17\x00\x0F\xFF\x26\x01";
    assert_eq!(expand(repeated).unwrap(), b"abc".repeat(100));
    assert_eq!(expand(&[0x28, 1, 2]), Err(CompressionError::Scheme(5)));
    assert_eq!(expand(&[]), Err(CompressionError::Damaged));
    assert_eq!(expand(&[0x18, 9, 0, 0, 0]), Err(CompressionError::Damaged));
}

#[test]
fn text_is_read_in_its_code_page() {
    assert_eq!(
        TextDecoder::whole(1252, b"caf\xE9 \x80"),
        "caf\u{E9} \u{20AC}"
    );
    assert_eq!(TextDecoder::whole(20_127, b"plain"), "plain");
    let wide: Vec<u8> = "a\u{1F600}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(TextDecoder::whole(1200, &wide), "a\u{1F600}");
    assert_eq!(TextDecoder::whole(1200, &wide[..4]), "a\u{FFFD}");
    assert_eq!(TextDecoder::whole(1200, &wide[..3]), "a\u{FFFD}");
    assert_eq!(TextDecoder::whole(65_001, "\u{E9}".as_bytes()), "\u{E9}");
    assert_eq!(TextDecoder::whole(65_001, b"\xC3"), "\u{FFFD}");
}

#[test]
fn the_catalog_of_this_project_is_read() {
    for page_size in PAGE_SIZES_BYTES {
        let layout = RecordLayout::new(&catalog_definition().columns, page_size);
        let rows = system_rows();
        let records: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| row.encode(&layout).unwrap())
            .collect();
        let tables = tables_of_catalog(records.iter().map(Vec::as_slice), page_size).unwrap();
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let expected = [
            "MSysObjects",
            "MSysObjectsShadow",
            "MSysObjids",
            "MSysLocales",
        ];
        assert_eq!(names, expected);
        assert!(tables.iter().all(GeneralTable::is_system));
        let catalog = &tables[0];
        assert_eq!((catalog.columns.len(), catalog.indexes.len()), (28, 3));
        assert!(catalog.indexes[0].is_primary() && !catalog.indexes[1].is_primary());
        let offset = |name: &str| {
            catalog
                .columns
                .iter()
                .find(|c| c.name == name)
                .unwrap()
                .offset
        };
        assert_eq!((offset("Id"), offset("LVChunkMax")), (10, 39));
        let without_table = records[1..].iter().map(Vec::as_slice);
        assert!(tables_of_catalog(without_table, page_size).is_err());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_taken_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        page_size in prop::sample::select(PAGE_SIZES_BYTES.to_vec()),
        likely: bool,
    ) {
        let mut bytes = bytes;
        if likely && bytes.len() > 12 {
            // The beginning of a record with tagged values.
            bytes[..4].copy_from_slice(&[0, 127, 4, 0]);
            (bytes[6], bytes[7]) = (8, bytes[7] & 0x60);
        }
        if let Ok(record) = GeneralRecord::new(&bytes, page_size) {
            let _ = record.all_tagged();
            let _ = (record.tagged(256, false), record.fixed(1, 4, 8), record.fixed(127, 190, 16));
            let _ = (record.variable(128), record.variable(255));
        }
        let _ = tables_of_catalog([bytes.as_slice()], page_size);
        let _ = expand(&bytes);
        for code_page in [1252, 1200, 65_001] {
            let _ = TextDecoder::whole(code_page, &bytes);
        }
    }

    #[test]
    fn text_in_pieces_is_the_same_text(
        bytes in prop::collection::vec(any::<u8>(), 0..60), text: String, cut in 0_usize..60,
    ) {
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (code_page, bytes) in [
            (CODE_PAGE_UTF16, &bytes[..]), (CODE_PAGE_UTF16, &wide[..]), (65_001, &bytes[..]),
            (65_001, text.as_bytes()), (1252, &bytes[..]),
        ] {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let mut decoder = TextDecoder::new(code_page);
            let mut pieces = String::new();
            decoder.push(left, &mut pieces);
            decoder.push(right, &mut pieces);
            decoder.finish(&mut pieces);
            prop_assert_eq!(&pieces, &TextDecoder::whole(code_page, bytes));
        }
        prop_assert_eq!(TextDecoder::whole(65_001, text.as_bytes()), text.clone());
        prop_assert_eq!(TextDecoder::whole(CODE_PAGE_UTF16, &wide), text);
    }
}
