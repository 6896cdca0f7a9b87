//! Whole traces of every format, and lines that are wrong.

use array::HostOperation;
use std::fmt::Write as _;
use std::io::Cursor;

use proptest::prelude::*;

use super::{TraceError, TraceFormat, TraceReader, TraceRequest, TraceSettings, recognise, survey};

fn read_with(text: &str, settings: &TraceSettings) -> Result<Vec<TraceRequest>, TraceError> {
    let format = recognise(text).expect("a format");
    let mut reader = TraceReader::new(Cursor::new(text.as_bytes()), "a.trace", format, settings);
    let mut requests = Vec::new();
    while let Some(request) = reader.next_request()? {
        requests.push(request);
    }
    Ok(requests)
}

fn read(text: &str) -> Result<Vec<TraceRequest>, TraceError> {
    read_with(text, &TraceSettings::default())
}

fn fault(text: &str) -> String {
    read(text).expect_err("a fault").to_string()
}

#[test]
fn csv_columns_go_by_their_names() {
    let text = "# made by hand\n\"Response time ms\";Operation;size;Sector;TIME_ms;volume;note\n\
        1.5;R;4096;8;1000.25;b;x\n\n;write;8192;16;1001;a;y\n;f;;;1002;a;\n";
    // A flush needs no place, but its fields must be numbers or absent.
    let text = text.replace(";f;;;1002;a;", ";f;0;0;1002;a;");
    let requests = read(&text).expect("a trace");
    let first = requests[0];
    assert_eq!(
        (first.line, first.arrival_ns, first.volume),
        (3, Some(0), 0)
    );
    assert_eq!((first.offset_bytes, first.size_bytes), (4096, 4096));
    assert_eq!(first.measured_ns, Some(1_500_000));
    assert_eq!(first.operation, HostOperation::Read);
    let second = requests[1];
    assert_eq!((second.arrival_ns, second.volume), (Some(750_000), 1));
    assert_eq!(
        (second.operation, second.measured_ns),
        (HostOperation::Write, None)
    );
    assert_eq!(requests[2].operation, HostOperation::Flush);
    assert_eq!(requests[2].sectors(), (0, 0));
}

#[test]
fn think_times_belong_to_their_request() {
    let text = "think_time_us,offset_bytes,size_bytes,operation\n0,0,512,r\n250.5,512,512,w\n";
    let requests = read(text).expect("a trace");
    assert_eq!(requests[0].arrival_ns, None);
    assert_eq!(requests[1].think_ns, 250_500);
}

#[test]
fn faults_name_the_line_and_the_remedy() {
    let head = "time_s,offset_bytes,size_bytes,operation\n";
    for (line, message, help) in [
        (
            "0,0,4096,copy",
            "'copy' is not an operation",
            "write read, write, flush or trim",
        ),
        (
            "0,0,4096",
            "3 fields, and the first line names 4",
            "every column",
        ),
        ("0,0,4096,r,9", "5 fields", "every column"),
        ("soon,0,4096,r", "'soon' is not a time", "decimal number"),
        ("0,-8,4096,r", "'-8' is not an offset", "whole number"),
        ("0,0,4k,r", "'4k' is not a size", "whole number"),
        ("0,0,0,w", "a write of 0 bytes", "leave the line out"),
        (
            "0,0,999999999999,r",
            "longer than any host sends",
            "right unit",
        ),
        (
            "0,18446744073709551615,512,r",
            "beyond any volume",
            "right unit",
        ),
    ] {
        let said = fault(&format!("{head}0,0,512,r\n{line}\n"));
        let marks = said.trim_end_matches(['.', '?']);
        assert_eq!(said.len() - marks.len(), 1, "one mark at the end: {said}");
        assert!(said.starts_with("a.trace:3: "), "{said}");
        assert!(
            said.contains(message) && said.contains(help),
            "{line}: {said}"
        );
    }
    let said = fault(&format!("{head}2.5,0,512,r\n1,0,512,r\n"));
    assert!(said.starts_with("a.trace:3: time runs backwards"), "{said}");
    assert!(said.contains("--set trace.sort_window="), "{said}");
    let said = fault("time_s,offset_bytes,operation\n0,0,r\n");
    assert!(
        said.contains("a.trace:1: there is no column size_bytes"),
        "{said}"
    );
    let said = fault("size,offset_bytes,sector,operation\n0,0,0,r\n");
    assert!(said.contains("2 columns offset_bytes"), "{said}");
}

#[test]
fn lines_out_of_order_are_sorted_when_asked() {
    let text = "time_s,offset_bytes,size_bytes,operation\n3,0,512,r\n1,512,512,r\n2,1024,512,r\n";
    let settings = TraceSettings {
        sort_window: 2,
        ..TraceSettings::default()
    };
    let requests = read_with(text, &settings).expect("a trace");
    let lines: Vec<u64> = requests.iter().map(|request| request.line).collect();
    assert_eq!(lines, [3, 4, 2]);
    assert_eq!(requests[2].arrival_ns, Some(2_000_000_000));
}

#[test]
fn iologs_of_both_versions_say_the_same() {
    let two = "fio version 2 iolog\n/dev/a b add\n/dev/a b open\n/dev/a b read 0 4096\n\
        /dev/a b wait 50 0\n/dev/a b wait 300 0\n/dev/c write 4096 8192\n/dev/c datasync 0 0\n\
        /dev/c trim 0 4096\n/dev/a b close\n";
    let requests = read(two).expect("a trace");
    let seen: Vec<_> = requests
        .iter()
        .map(|one| (one.volume, one.operation, one.think_ns))
        .collect();
    assert_eq!(
        seen,
        [
            (0, HostOperation::Read, 0),
            (1, HostOperation::Write, 300_000),
            (1, HostOperation::Flush, 0),
            (1, HostOperation::Trim, 0),
        ]
    );
    let three = "fio version 3 iolog\n24 /dev/a add\n149 /dev/a open\n154 /dev/a read 61440 4096\n\
        475 /dev/a write 774144 4096\n1285 /dev/a close\n";
    let requests = read(three).expect("a trace");
    assert_eq!(requests[1].arrival_ns, Some(321_000));
    assert_eq!(
        (requests[0].offset_bytes, requests[0].size_bytes),
        (61_440, 4_096)
    );
    for (line, message) in [
        ("/dev/a copy 0 4096", "'copy' is not an action of an iolog"),
        ("/dev/a read 0", "is not a line of an iolog of version 2"),
        ("read 0 4096", "is not a line of an iolog of version 2"),
    ] {
        let said = fault(&format!("fio version 2 iolog\n{line}\n"));
        assert!(
            said.starts_with("a.trace:2: ") && said.contains(message),
            "{said}"
        );
    }
    let said = fault("fio version 9 iolog\n");
    assert!(
        said.contains("'fio version 9 iolog' does not begin an iolog"),
        "{said}"
    );
    let said = fault("fio version 3 iolog\n1 /dev/a wait 300 0\n");
    assert!(said.contains("version 2"), "{said}");
}

#[test]
fn latency_logs_begin_where_they_began() {
    // The second ended first: lines stand in the order of their ends.
    let text = "2, 500000, 0, 4096, 8192, 0\n3, 2900000, 1, 4096, 0, 0\n4, 100000, 2, 512, 0, 0\n";
    let requests = read(text).expect("a trace");
    let seen: Vec<_> = requests
        .iter()
        .map(|one| (one.line, one.arrival_ns, one.measured_ns))
        .collect();
    assert_eq!(
        seen,
        [
            (2, Some(0), Some(2_900_000)),
            (1, Some(1_400_000), Some(500_000)),
            (3, Some(3_800_000), Some(100_000)),
        ]
    );
    assert!(fault("2, 500000, 0, 4096\n").contains("--log_offset=1"));
    assert!(fault("2, 500000, 0, 0, 0, 0\n").contains("without --log_avg_msec"));
    assert!(fault("2, 500000, 7, 512, 0, 0\n").contains("7 is not a direction"));
}

const EVENTS: &str = "\
  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [kjournald]
  8,0    1        2     0.000000400   697  A  RS 223490 + 8 <- (8,1) 100
  8,0    1        3     0.000001000   697  D   R 223490 + 8 [kjournald]
  8,16   1        4     0.000500000   697  D  WS 1000 + 16 [x]
  8,0    1        5     0.000700000   697  D FWS 0 [x]
  8,0    1        6     0.000800000   697  P   N [x]
  8,0    1        7     0.000900000   697  m   N cfq something
  8,16   1        8     0.001500000     0  C  WS 1000 + 16 [0]
  8,0    1        9     0.004001000     0  C   R 223490 + 8 [0]
  8,0    1       10     0.005000000   697  D  DS 4096 + 64 [x]
  8,0    1       11     0.006000000   697  D   N 0 [x]
CPU0 (sda):
 Reads Queued:           1,        4KiB
Total (sda):
 Throughput (R/W): 0KiB/s
";

#[test]
fn events_become_requests_with_their_times() {
    let requests = read(EVENTS).expect("a trace");
    let seen: Vec<_> = requests
        .iter()
        .map(|one| (one.volume, one.operation, one.arrival_ns, one.measured_ns))
        .collect();
    assert_eq!(
        seen,
        [
            (0, HostOperation::Read, Some(0), Some(4_000_000)),
            (1, HostOperation::Write, Some(499_000), Some(1_000_000)),
            (0, HostOperation::Flush, Some(699_000), None),
            (0, HostOperation::Trim, Some(4_999_000), None),
        ]
    );
    assert_eq!(
        (requests[0].offset_bytes, requests[0].size_bytes),
        (223_490 * 512, 4096)
    );
    let mut settings = TraceSettings::default();
    settings.set("blkparse_action", "Q").expect("a setting");
    let queued = read_with(EVENTS, &settings).expect("a trace");
    assert_eq!(queued.len(), 1);
    assert_eq!(queued[0].measured_ns, Some(4_001_000));
    let said = fault("  8,0 1 1 0.0 697 Q R 0 + 8 [x]\nnonsense\n");
    assert!(
        said.starts_with("a.trace:2: 'nonsense' is not an event of blkparse"),
        "{said}"
    );
    let said = fault("  8,0 1 1 0.0 697 Z R 0 + 8 [x]\n");
    assert!(said.contains("'Z' is not an action of blkparse"), "{said}");
}

#[test]
fn a_survey_knows_what_the_trace_holds() {
    let format = TraceFormat::Blkparse;
    let settings = TraceSettings::default();
    let mut reader = TraceReader::new(Cursor::new(EVENTS), "a.trace", format, &settings);
    let found = survey(&mut reader, None).expect("a survey");
    assert_eq!(
        (found.requests, found.reads, found.writes, found.measured),
        (4, 1, 1, 2)
    );
    assert_eq!((found.span_ns, found.has_arrivals), (4_999_000, true));
    assert_eq!(found.volumes[0].name, "8,0");
    assert_eq!(found.volumes[0].end_bytes, 223_498 * 512);
    assert_eq!(found.volumes[1].requests, 1);
    let mut reader = TraceReader::new(Cursor::new(EVENTS), "a.trace", format, &settings);
    let begin = survey(&mut reader, Some(699_000)).expect("a survey");
    assert_eq!(begin.requests, 2);
    let text = "time_s,offset_bytes,size_bytes,operation\n";
    let mut reader = TraceReader::new(Cursor::new(text), "a.trace", TraceFormat::Csv, &settings);
    let said = survey(&mut reader, None)
        .expect_err("nothing in it")
        .to_string();
    assert!(
        said.contains("a.trace: the trace holds no request"),
        "{said}"
    );
}

#[test]
fn settings_are_checked_where_they_are_given() {
    let mut settings = TraceSettings::default();
    settings.set("outstanding", "16").expect("a number");
    settings.set("mode", "closed").expect("a mode");
    settings.set("volume_size", "2GiB").expect("a size");
    assert_eq!(settings.outstanding, 16);
    let said = settings.set("outstanding", "0").expect_err("too few");
    assert!(said.contains("from 1 to 65536"), "{said}");
    let said = settings.set("mode", "ajar").expect_err("no mode");
    assert!(said.contains("\"open\" or \"closed\""), "{said}");
    let said = settings.set("wrapped", "true").expect_err("no setting");
    assert!(said.contains("its settings are format, mode"), "{said}");
    let mut read_back = TraceSettings::default();
    for (path, literal) in settings.literals() {
        let key = path.strip_prefix("trace.").expect("a path");
        read_back.set(key, &literal).expect("its own literal");
    }
    assert_eq!(read_back, settings);
}

#[test]
fn long_lines_and_other_bytes_are_refused() {
    let settings = TraceSettings::default();
    for (bytes, message) in [
        (vec![b'x'; 1 << 20], "longer than 64 KiB"),
        (b"time_s,\xff\xfe\n".to_vec(), "not text in UTF-8"),
    ] {
        let input = Cursor::new(bytes);
        let mut reader = TraceReader::new(input, "a.trace", TraceFormat::Csv, &settings);
        let said = reader.next_request().expect_err("refused").to_string();
        assert!(said.contains(message), "{said}");
    }
}

fn operation() -> impl Strategy<Value = HostOperation> {
    prop_oneof![
        Just(HostOperation::Read),
        Just(HostOperation::Write),
        Just(HostOperation::Trim)
    ]
}

/// Gap before it in ns, first sector, sectors, operation, measured time in ns.
type Asked = (u64, u64, u64, HostOperation, Option<u64>);

fn request() -> impl Strategy<Value = Asked> {
    let span = 0_u64..1 << 40;
    let measured = prop::option::of(span.clone());
    (span.clone(), span, 1_u64..1 << 16, operation(), measured)
}

proptest! {
    /// What is written as CSV reads back as it was, in any unit of time.
    #[test]
    fn csv_reads_back(
        requests in prop::collection::vec(request(), 1..50),
        unit in 0_usize..4,
    ) {
        let (name, scale) = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)][unit];
        let digits = [9, 6, 3, 0][unit];
        let mut text = format!("time_{name},volume,sector,sectors,operation,response_time_ns\n");
        let mut at_ns = 0;
        let mut expected = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let (gap_ns, sector, sectors, operation, measured) = request;
            if number > 0 {
                at_ns += gap_ns >> 8;
            }
            let whole = at_ns / scale as u64;
            let rest = at_ns % scale as u64;
            let time = match digits {
                0 => at_ns.to_string(),
                _ => format!("{whole}.{rest:0digits$}"),
            };
            let took = measured.map_or(String::new(), |ns| ns.to_string());
            let (word, volume) = (operation.name(), number % 3);
            let _ = writeln!(text, "{time},v{volume},{sector},{sectors},{word},{took}");
            expected.push((at_ns, sector * 512, sectors * 512, *operation, *measured));
        }
        let found: Vec<_> = read(&text).expect("a trace").iter().map(|one| {
            let at_ns = one.arrival_ns.expect("a time");
            (at_ns, one.offset_bytes, one.size_bytes, one.operation, one.measured_ns)
        }).collect();
        prop_assert_eq!(found, expected);
    }

    /// No bytes make a reader panic, whatever they are taken for; a fault names a line.
    #[test]
    fn any_text_ends_in_requests_or_in_a_fault(
        lines in prop::collection::vec("[ -~]{0,40}|[0-9 ,.+DQCRWx/]{0,40}", 0..20),
        begin in 0_usize..5,
    ) {
        let settings = TraceSettings::default();
        let begin = ["", "fio version 2 iolog\n", "fio version 3 iolog\n",
            "time_s,offset,size,operation\n", "8,0 1 1 0.0 1 D R 0 + 8 [x]\n"][begin];
        let text = format!("{begin}{}", lines.join("\n"));
        for format in [
            TraceFormat::Csv, TraceFormat::FioIolog, TraceFormat::FioLog, TraceFormat::Blkparse,
        ] {
            let input = Cursor::new(text.as_bytes());
            let mut reader = TraceReader::new(input, "a.trace", format, &settings);
            loop {
                match reader.next_request() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(error) => {
                        prop_assert!(error.to_string().starts_with("a.trace:"));
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn every_setting_is_documented_as_it_is() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/traces.md");
    let text = std::fs::read_to_string(path).expect("docs/traces.md is part of the repository");
    let reference = TraceSettings::reference();
    assert!(
        text.contains(&reference),
        "docs/traces.md lacks\n{reference}"
    );
}
