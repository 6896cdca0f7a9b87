use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::format::page::PAGE_SIZES_BYTES;
use crate::format::schema::TableDefinition;

fn all_types() -> TableDefinition {
    use ColumnType as T;
    TableDefinition::new("all")
        .fixed("Long", T::Long, 0)
        .fixed("LongLong", T::LongLong, 0)
        .fixed("Bit", T::Bit, 0)
        .fixed("Double", T::Float64, 0)
        .fixed("Byte", T::UnsignedByte, 0)
        .fixed("Short", T::Short, 0)
        .fixed("UnsignedShort", T::UnsignedShort, 0)
        .fixed("UnsignedLong", T::UnsignedLong, 0)
        .fixed("Float", T::Float32, 0)
        .fixed("DateTime", T::DateTime, 0)
        .fixed("Guid", T::Guid, 0)
        .variable("Text", T::Text)
        .variable("Binary", T::Binary)
        .tagged("LongText", T::LongText)
        .tagged("LongBinary", T::LongBinary)
        .tagged("TaggedLong", T::Long)
}

fn random_fields<'a>(random: &mut Xoshiro256PlusPlus, bytes: &'a [u8]) -> Vec<Field<'a>> {
    let mut guid = [0; 16];
    random.fill_bytes(&mut guid);
    let mut short = || {
        let end = random.random_range(0..=255);
        &bytes[..end]
    };
    let (text, binary, long) = (short(), short(), short());
    let mut fields = vec![
        Field::Long(random.random()),
        Field::LongLong(random.random()),
        Field::Bit(random.random()),
        Field::Float64(random.random()),
        Field::UnsignedByte(random.random()),
        Field::Short(random.random()),
        Field::UnsignedShort(random.random()),
        Field::UnsignedLong(random.random()),
        Field::Float32(random.random()),
        Field::DateTime(random.random()),
        Field::Guid(guid),
        Field::Bytes(text),
        Field::Bytes(binary),
        Field::Bytes(long),
        Field::LongValue(random.random()),
        Field::Long(random.random()),
    ];
    let nulls = random.random_range(0..4_u32);
    for field in &mut fields {
        if random.random_range(0..4) < nulls {
            *field = Field::Null;
        }
    }
    fields
}

proptest! {
    #[test]
    fn records_come_back(seed: u64, page_size in prop::sample::select(PAGE_SIZES_BYTES.to_vec())) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let table = all_types();
        let layout = RecordLayout::new(&table.columns, page_size);
        let mut bytes = [0; 255];
        random.fill_bytes(&mut bytes);
        let fields = random_fields(&mut random, &bytes);
        let record = layout.encode(&fields).unwrap();
        prop_assert_eq!(record.len(), layout.encoded_bytes(&fields).unwrap());
        prop_assert_eq!(layout.view(&record).unwrap().fields().unwrap(), fields);
    }

    #[test]
    fn damaged_records_never_panic(
        seed: u64, cut in 0_usize..600, page_size in prop::sample::select(PAGE_SIZES_BYTES.to_vec()),
    ) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let layout = RecordLayout::new(&all_types().columns, page_size);
        let bytes = [7; 255];
        let mut record = layout.encode(&random_fields(&mut random, &bytes)).unwrap();
        let at = random.random_range(0..record.len());
        record[at] ^= 1 << random.random_range(0..8);
        record.truncate(cut);
        if let Ok(view) = layout.view(&record) {
            let _ = view.fields();
        }
    }
}

#[test]
fn the_bytes_are_those_of_a_real_catalog_row() {
    use ColumnType as T;
    let catalog = TableDefinition::new("MSysObjects")
        .fixed("ObjidTable", T::Long, 0)
        .fixed("Type", T::Short, 0)
        .fixed("Id", T::Long, 0)
        .fixed("ColtypOrPgnoFDP", T::Long, 0)
        .fixed("SpaceUsage", T::Long, 0)
        .fixed("Flags", T::Long, 0)
        .fixed("PagesOrLocale", T::Long, 0)
        .fixed("RootFlag", T::Bit, 0)
        .fixed("RecordOffset", T::Short, 0)
        .variable("Name", T::Text)
        .variable("Stats", T::Binary);
    let long = Field::Long;
    let fields = [
        long(8),
        Field::Short(1),
        long(8),
        long(31),
        long(80),
        long(0),
        long(4),
        Field::Bit(true),
        Field::Null,
        Field::Bytes(b"large"),
        Field::Null,
    ];
    let record = RecordLayout::new(&catalog.columns, 32_768)
        .encode(&fields)
        .unwrap();
    let expected = [
        0x08, 0x80, 0x20, 0, 8, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0x1F, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0,
        0, 4, 0, 0, 0, 0xFF, 0, 5, 0, b'l', b'a', b'r', b'g', b'e',
    ];
    assert_eq!(record, expected);
}

#[test]
fn values_of_another_type_are_refused() {
    let layout = RecordLayout::new(
        &TableDefinition::new("t")
            .fixed("A", ColumnType::Long, 0)
            .columns,
        4096,
    );
    let error = layout.encode(&[Field::LongLong(1)]).unwrap_err();
    assert_eq!(
        error,
        RecordError::Type {
            column: "A".to_owned()
        }
    );
    let error = layout.encode(&[]).unwrap_err();
    assert_eq!(
        error,
        RecordError::Count {
            given: 0,
            columns: 1
        }
    );
}
