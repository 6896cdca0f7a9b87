//! The two copies of a header, compared with each other when a database is opened.

use super::file_finding::{FileClass, FileFinding, FilePart};
use super::finding::Persistence;
use super::version::DbtimeRange;
use crate::format::database_header::{DatabaseHeader, HeaderDamage};

/// Says which of the two copies of the header in `file` is damaged, or is not the same as the other, and
/// how. A power cut while they were written leaves one so; on a closed database it is a fault of the
/// storage.
pub(crate) fn compare_headers(file: &str, first: &[u8], second: &[u8]) -> Option<FileFinding> {
    let finding = |copy, class, problem| FileFinding {
        file: file.to_owned(),
        part: FilePart::Header { copy },
        class,
        problem,
        persistence: Persistence::ReadOnce,
    };
    let damaged = |copy, bytes: &[u8], which, damage: HeaderDamage| {
        let class = match bytes.iter().all(|&byte| byte == 0) {
            true => FileClass::Zeroed,
            false => FileClass::Checksum,
        };
        finding(
            copy,
            class,
            format!("the {which} header is damaged: {damage}"),
        )
    };
    let differs = |copy, class, problem: &str| finding(copy, class, problem.to_owned());
    let decoded = (
        DatabaseHeader::decode(first),
        DatabaseHeader::decode(second),
    );
    Some(match decoded {
        (Err(damage), _) => damaged(1, first, "first", damage),
        (_, Err(damage)) => damaged(2, second, "second", damage),
        (Ok(first), Ok(second)) if first == second => return None,
        (Ok(first), Ok(second)) if first.signature != second.signature => differs(
            2,
            FileClass::Foreign,
            "the second header is not of the same database as the first",
        ),
        (Ok(first), Ok(second)) if first.is_older_than(&second) => differs(
            1,
            FileClass::LostWrite,
            "the first header is older than the second: the last write of it was lost",
        ),
        _ => differs(
            2,
            FileClass::LostWrite,
            "the second header is older than the first: the last write of it was lost",
        ),
    })
}

/// Two copies of the header that are of different databases.
pub(crate) struct ForeignCopy {
    /// The copy that belongs to the pages of the file.
    pub(crate) own: DatabaseHeader,
    /// The other one.
    pub(crate) finding: FileFinding,
}

/// Which of two whole copies is that of the database whose page of number 1, which is never without a change, has
/// this database time: each database has times of its own. `None` if they are of one database, or the page
/// belongs to both or to neither.
pub(crate) fn foreign_copy(
    file: &str,
    first: &[u8],
    second: &[u8],
    dbtime: u64,
) -> Option<ForeignCopy> {
    let first = DatabaseHeader::decode(first).ok()?;
    let second = DatabaseHeader::decode(second).ok()?;
    let has_page = |header: &DatabaseHeader| {
        DbtimeRange::of_existing(header.signature, header.dbtime).contains(dbtime)
    };
    let (own, copy, which) = match (has_page(&first), has_page(&second)) {
        _ if first.signature == second.signature => return None,
        (true, false) => (first, 2, "second"),
        (false, true) => (second, 1, "first"),
        _ => return None,
    };
    let finding = FileFinding {
        file: file.to_owned(),
        part: FilePart::Header { copy },
        class: FileClass::Foreign,
        problem: format!("the {which} header is that of another database"),
        persistence: Persistence::ReadOnce,
    };
    Some(ForeignCopy { own, finding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::database_header::{DatabaseState, HeaderLogPosition, Signature};

    #[test]
    fn copies_that_differ_show_which_lost_a_write() {
        let mut clean = DatabaseHeader::new(4096, Signature::default());
        clean.state = DatabaseState::Clean;
        clean.attach.position = HeaderLogPosition::from_stream(1 << 20, 1 << 20);
        let mut opened = clean.clone();
        opened.state = DatabaseState::Dirty;
        opened.attach.position = HeaderLogPosition::from_stream(3 << 20, 1 << 20);
        opened.highest_log_committed = 4;
        let mut later = opened.clone();
        later.highest_log_committed = 5;
        let mut in_a_new_log = opened.clone();
        in_a_new_log.log_signature.random ^= 1;
        in_a_new_log.attach.position = HeaderLogPosition::from_stream(0, 1 << 20);
        let mut of_another = later.clone();
        of_another.signature.random ^= 1;
        let cases = [
            (&clean, &opened, Some((1, FileClass::LostWrite))),
            (&opened, &clean, Some((2, FileClass::LostWrite))),
            (&opened, &later, Some((1, FileClass::LostWrite))),
            (&later, &opened, Some((2, FileClass::LostWrite))),
            (&in_a_new_log, &opened, Some((2, FileClass::LostWrite))),
            (&opened, &of_another, Some((2, FileClass::Foreign))),
            (&opened, &opened, None),
        ];
        for (place, (first, second, found)) in cases.into_iter().enumerate() {
            let (mut one, mut other) = (vec![0; 4096], vec![0; 4096]);
            first.encode(&mut one);
            second.encode(&mut other);
            let takes_first = found.is_none_or(|(copy, _)| copy == 2);
            let chosen = DatabaseHeader::choose(&one, &other);
            let expected = if takes_first { first } else { second };
            assert_eq!(chosen.as_ref(), Ok(expected), "case {place}");
            let expected = found.map(|(copy, class)| (FilePart::Header { copy }, class));
            let found = compare_headers("a.edb", &one, &other);
            let found = found.map(|finding| (finding.part, finding.class));
            assert_eq!(found, expected, "case {place}");
        }
    }
}
