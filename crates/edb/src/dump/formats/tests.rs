//! Rows as they are written.

use super::*;
use crate::bulk::tests::TestRows;
use crate::check::tests::{built, with_file};
use crate::format::record::Field;
use crate::format::schema::ColumnType;

fn column(name: &str, kind: ColumnType) -> GeneralColumn {
    GeneralColumn {
        id: 1,
        name: name.to_owned(),
        type_code: kind as u32,
        size_bytes: 0,
        flags: 0,
        code_page: if kind.is_text() { 1252 } else { 0 },
        offset: 0,
        default: None,
        from_template: false,
    }
}

/// What is written of one row with these events.
fn written(format: RowFormat, columns: &[GeneralColumn], events: &[RowEvent<'_>]) -> String {
    let columns: Vec<&GeneralColumn> = columns.iter().collect();
    let mut rows = format.of_columns(&columns);
    let mut out = Vec::new();
    rows.begin(&mut out).unwrap();
    rows.take(RowEvent::BeginRow, &mut out).unwrap();
    for event in events {
        rows.take(event.clone(), &mut out).unwrap();
    }
    rows.take(RowEvent::EndRow, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Both formats of the same row.
fn both(columns: &[GeneralColumn], events: &[RowEvent<'_>]) -> [String; 2] {
    [RowFormat::Csv, RowFormat::JsonLines].map(|format| written(format, columns, events))
}

#[test]
fn each_kind_of_value_has_its_form() {
    let columns = [
        column("none", ColumnType::Long),
        column("number", ColumnType::Long),
        column("infinite", ColumnType::Float64),
        column("identity", ColumnType::Guid),
        column("bytes", ColumnType::Binary),
        column("text", ColumnType::Text),
    ];
    let guid = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    let [csv, json] = both(
        &columns,
        &[
            RowEvent::Null,
            RowEvent::One,
            RowEvent::Fixed(Field::Long(-5)),
            RowEvent::One,
            RowEvent::Fixed(Field::Float64(f64::INFINITY)),
            RowEvent::One,
            RowEvent::Fixed(Field::Guid(guid)),
            RowEvent::One,
            RowEvent::BeginBytes,
            RowEvent::Bytes(&[0x0A, 0xFF]),
            RowEvent::Bytes(&[0x10]),
            RowEvent::EndBytes,
            RowEvent::One,
            RowEvent::BeginBytes,
            RowEvent::Bytes(b"say \"a"),
            RowEvent::Bytes(b"h\"\n"),
            RowEvent::EndBytes,
        ],
    );
    let identity = "04030201-0605-0807-090a-0b0c0d0e0f10";
    assert_eq!(
        csv,
        format!(
            "none,number,infinite,identity,bytes,text\n,-5,inf,{identity},0aff10,\"say \"\"ah\"\"\n\"\n"
        )
    );
    assert_eq!(
        json,
        format!(
            "{{\"none\":null,\"number\":-5,\"infinite\":\"inf\",\"identity\":\"{identity}\",\
             \"bytes\":\"0aff10\",\"text\":\"say \\\"ah\\\"\\n\"}}\n"
        )
    );
}

#[test]
fn no_bytes_differ_from_no_value() {
    let columns = [
        column("a", ColumnType::Binary),
        column("b,c", ColumnType::Binary),
    ];
    let events = [
        RowEvent::One,
        RowEvent::BeginBytes,
        RowEvent::EndBytes,
        RowEvent::Null,
    ];
    let [csv, json] = both(&columns, &events);
    assert_eq!(csv, "a,\"b,c\"\n\"\",\n");
    assert_eq!(json, "{\"a\":\"\",\"b,c\":null}\n");
}

#[test]
fn several_values_are_an_array() {
    let columns = [column("n", ColumnType::Long), column("t", ColumnType::Text)];
    let events = [
        RowEvent::Many(2),
        RowEvent::Fixed(Field::Long(1)),
        RowEvent::Fixed(Field::Long(2)),
        RowEvent::Many(1),
        RowEvent::BeginBytes,
        RowEvent::Bytes(b"x"),
        RowEvent::EndBytes,
    ];
    let [csv, json] = both(&columns, &events);
    assert_eq!(csv, "n,t\n\"[1,2]\",\"[\"\"x\"\"]\"\n");
    assert_eq!(json, "{\"n\":[1,2],\"t\":[\"x\"]}\n");
    let nothing = [RowEvent::Many(0), RowEvent::Null];
    let [csv, json] = both(&columns, &nothing);
    assert_eq!(csv, "n,t\n\"[]\",\n");
    assert_eq!(json, "{\"n\":[],\"t\":null}\n");
}

#[test]
fn all_rows_of_a_table_are_written() {
    let rows = 300;
    let bytes = built(4096, rows, 9000);
    let text = with_file(&bytes, async move |file, _| {
        let database = DatabaseReader::open(&file).await.unwrap();
        let table = database.table("messages").unwrap();
        let mut out = Vec::new();
        let written = database.write_rows(table, RowFormat::Csv, &mut out).await;
        assert_eq!(written.unwrap().rows, rows);
        String::from_utf8(out).unwrap()
    });
    assert_eq!(text.lines().count(), 1 + rows as usize);
    let subject = String::from_utf8_lossy(TestRows::subject(7).as_bytes()).into_owned();
    assert!(text.contains(&subject), "{subject}");
}
