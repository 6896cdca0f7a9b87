//! From the bytes of a `JetstressConfig.xml` to its text: encodings, and characters that XML does not permit.

use execution::Error;

use super::command::quoted;

/// The byte order mark by which Windows marks UTF-8.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// What Windows writes in Western Europe and America where it writes no Unicode; ISO 8859-1 is contained in it.
const USUAL_8_BIT: &str = "WINDOWS-1252";

/// Bytes at the begin of a file within which an XML declaration must end.
const LONGEST_DECLARATION: usize = 256;

/// Letters of the longest name of an encoding that is passed on.
const LONGEST_ENCODING: usize = 40;

/// Whether a file that was given as a profile is XML, of whatever encoding.
#[must_use]
pub fn looks_like_xml(bytes: &[u8]) -> bool {
    utf16(bytes).is_some() || without_mark(bytes).trim_ascii_start().starts_with(b"<")
}

/// The text in the bytes of the file `name`.
///
/// # Errors
/// It is not in UTF-8, or has a character that XML does not permit.
pub(super) fn text_of<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    if let Some(encoding) = utf16(bytes) {
        return Err(not_utf8(name, "is in UTF-16, not in UTF-8", encoding));
    }
    let bytes = without_mark(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let found = format!(
            "is not text in UTF-8: line {line} has the byte 0x{:02X}",
            bytes[at]
        );
        let declared = declared(bytes).filter(|name| is_8_bit(name));
        not_utf8(name, &found, declared.unwrap_or(USUAL_8_BIT))
    })?;
    match text.char_indices().find(|(_, one)| !is_permitted(*one)) {
        None => Ok(text),
        Some((at, one)) => Err(forbidden(name, line_at(text, at), one)),
    }
}

/// Whether XML 1.0 permits a character, be it written as such or as a reference.
pub(super) fn is_permitted(one: char) -> bool {
    matches!(one, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// A character that XML does not permit, in this line.
pub(super) fn forbidden(name: &str, line: usize, one: char) -> Error {
    Error::usage(
        format!(
            "{name}:{line}: the character U+{:04X} is here, which XML 1.0 does not permit.",
            u32::from(one)
        ),
        "Take it out of the file.",
    )
}

/// Line of a place in a text, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

fn not_utf8(name: &str, found: &str, encoding: &str) -> Error {
    Error::usage(
        format!("{name} {found}."),
        format!(
            "Save it as UTF-8, for instance by: iconv -f {encoding} -t UTF-8 {} > utf8.xml",
            quoted(name)
        ),
    )
}

/// Which UTF-16 a file is in, as iconv names it: by its byte order mark, or by the zero byte in its first letter.
fn utf16(bytes: &[u8]) -> Option<&'static str> {
    let marks: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
    let marked = marks.iter().find_map(|mark| bytes.strip_prefix(*mark));
    let text = marked.unwrap_or(bytes);
    let by_letter = match text {
        [b'<', 0, ..] => "UTF-16LE",
        [0, b'<', ..] => "UTF-16BE",
        _ => return None,
    };
    // iconv takes the order of the bytes from the mark, and takes the mark away, if it is not given an order.
    Some(marked.map_or(by_letter, |_| "UTF-16"))
}

/// The encoding that the XML declaration names.
fn declared(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let rest = &rest[..rest.len().min(LONGEST_DECLARATION)];
    let end = rest.windows(2).position(|two| two == b"?>")?;
    let declaration = std::str::from_utf8(&rest[..end]).ok()?;
    let (_, after) = declaration.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|one| "\"'".contains(*one))?;
    let (name, _) = value[1..].split_once(quote)?;
    let is_part = |one: char| one.is_ascii_alphanumeric() || "._-".contains(one);
    let is_name = name.starts_with(|one: char| one.is_ascii_alphabetic());
    (is_name && name.len() <= LONGEST_ENCODING && name.chars().all(is_part)).then_some(name)
}

/// Whether a file that is not in UTF-8 may be in this encoding: no Unicode one, which its bytes refute, and not
/// ASCII, which has no byte above 0x7F.
fn is_8_bit(encoding: &str) -> bool {
    let name = encoding.to_ascii_uppercase();
    let refuted = ["UTF", "UCS", "ISO-10646", "US-ASCII", "ASCII"];
    !refuted.iter().any(|one| name.starts_with(one))
}

/// The bytes behind the mark by which Windows marks UTF-8.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(bytes: &[u8]) -> String {
        let Err(Error::Refused(refusal)) = text_of("a b.xml", bytes) else {
            panic!("it is not in UTF-8");
        };
        let (_, after) = refusal.help.split_once("iconv -f ").expect("a command");
        after.to_owned()
    }

    #[test]
    fn the_encoding_that_is_proposed_is_the_declared_or_the_likely_one() {
        let declaring = |encoding: &str| {
            let mut bytes = format!("<?xml version='1.0' encoding='{encoding}'?>\n").into_bytes();
            bytes.extend(b"<a>\xe9</a>");
            bytes
        };
        for (bytes, encoding) in [
            (b"<a>\xe9</a>".to_vec(), "WINDOWS-1252"),
            (declaring("ISO-8859-15"), "ISO-8859-15"),
            (declaring("Shift_JIS"), "Shift_JIS"),
            (declaring("utf-8"), "WINDOWS-1252"),
            (declaring("x; rm -r ."), "WINDOWS-1252"),
            (b"<\0a\0".to_vec(), "UTF-16LE"),
            (b"\0<\0a".to_vec(), "UTF-16BE"),
            (b"\xff\xfe<\0a\0".to_vec(), "UTF-16"),
            (b"\xfe\xff\0<\0a".to_vec(), "UTF-16"),
        ] {
            let right = format!("{encoding} -t UTF-8 'a b.xml' > utf8.xml");
            assert_eq!(proposed(&bytes), right);
        }
    }

    #[test]
    fn characters_are_those_of_xml() {
        for right in ['\t', '\n', '\r', ' ', '\u{85}', '\u{fffd}', '\u{10ffff}'] {
            assert!(is_permitted(right), "{right:?}");
        }
        for wrong in ['\0', '\u{1b}', '\u{1f}', '\u{fffe}', '\u{ffff}'] {
            assert!(!is_permitted(wrong), "{wrong:?}");
            let text = format!("<a>\n{wrong}</a>");
            let error = text_of("a.xml", text.as_bytes()).expect_err("a wrong character");
            assert!(error.to_string().starts_with("a.xml:2: "), "{error}");
        }
    }
}
