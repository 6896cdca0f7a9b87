//! Recognises the format of a trace from its first line.

use super::blkparse;
use super::csv::Header;
use super::fio_log;
use super::format::TraceFormat;

/// The format of a trace that begins with `text`; `None` if it is none of them.
#[must_use]
pub fn recognise(text: &str) -> Option<TraceFormat> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.find(|line| !line.starts_with('#'))?;
    if first.starts_with("fio version ") {
        return Some(TraceFormat::FioIolog);
    }
    if blkparse::is_event(first) {
        return Some(TraceFormat::Blkparse);
    }
    if fio_log::is_entry(first) {
        return Some(TraceFormat::FioLog);
    }
    Header::is_one(first).then_some(TraceFormat::Csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_recognised_by_its_first_line() {
        for (text, format) in [
            ("fio version 2 iolog\n/dev/sdb add\n", TraceFormat::FioIolog),
            ("fio version 3 iolog\n", TraceFormat::FioIolog),
            ("0, 228800, 0, 4096, 61440, 0\n", TraceFormat::FioLog),
            (
                "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n",
                TraceFormat::Blkparse,
            ),
            (
                "\n# mine\ntime_s,offset_bytes,size_bytes,operation\n",
                TraceFormat::Csv,
            ),
            (
                "Time_ms; Volume; Sector; Sectors; Operation",
                TraceFormat::Csv,
            ),
        ] {
            assert_eq!(recognise(text), Some(format), "{text}");
        }
        for text in [
            "",
            "kind = \"mail\"\n",
            "[mail]\n",
            "extends = \"exchange-2013\"",
            "a,b,c",
        ] {
            assert_eq!(recognise(text), None, "{text}");
        }
    }
}
