//! Text in its code page, piece by piece.

use crate::format::schema::CODE_PAGE_UTF16;

/// Code page of UTF-8.
const CODE_PAGE_UTF8: u32 = 65_001;
/// The characters of code page 1252 from 0x80 to 0x9F that differ from those of Unicode. Five codes
/// have no character; they stand for themselves.
const WESTERN: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// Turns bytes of a code page into text. Bytes that are none of its characters become U+FFFD.
///
/// UTF-16 (1200) and UTF-8 (65001) are read as such, every other code page as 1252, of which ASCII
/// (20127) is a part.
#[derive(Debug, Clone)]
pub struct TextDecoder {
    code_page: u32,
    /// Bytes of a character whose other bytes come with the next piece.
    kept: Vec<u8>,
}

impl TextDecoder {
    /// Begins a text in this code page.
    #[must_use]
    pub fn new(code_page: u32) -> Self {
        Self {
            code_page,
            kept: Vec::new(),
        }
    }

    /// The text of the whole of `bytes`.
    #[must_use]
    pub fn whole(code_page: u32, bytes: &[u8]) -> String {
        let mut decoder = Self::new(code_page);
        let mut text = String::new();
        decoder.push(bytes, &mut text);
        decoder.finish(&mut text);
        text
    }

    /// Appends the characters that are complete with `bytes`.
    pub fn push(&mut self, bytes: &[u8], text: &mut String) {
        match self.code_page {
            CODE_PAGE_UTF16 => {
                self.kept.extend_from_slice(bytes);
                self.push_utf16(false, text);
            }
            CODE_PAGE_UTF8 => {
                self.kept.extend_from_slice(bytes);
                self.push_utf8(text);
            }
            _ => text.extend(bytes.iter().map(|&byte| western(byte))),
        }
    }

    /// Appends what is left of a character that was interrupted.
    pub fn finish(mut self, text: &mut String) {
        if self.code_page == CODE_PAGE_UTF16 {
            self.push_utf16(true, text);
        }
        if !self.kept.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn push_utf16(&mut self, is_end: bool, text: &mut String) {
        let (pairs, _) = self.kept.as_chunks();
        let mut units: Vec<u16> = pairs.iter().map(|&pair| u16::from_le_bytes(pair)).collect();
        // The first half of a pair of surrogates waits for the second.
        if !is_end
            && units
                .last()
                .is_some_and(|unit| (0xD800..0xDC00).contains(unit))
        {
            units.pop();
        }
        text.extend(
            char::decode_utf16(units.iter().copied())
                .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)),
        );
        self.kept.drain(..2 * units.len());
    }

    fn push_utf8(&mut self, text: &mut String) {
        let complete = match self.kept.utf8_chunks().last() {
            Some(chunk) if could_go_on(chunk.invalid()) => self.kept.len() - chunk.invalid().len(),
            _ => self.kept.len(),
        };
        text.push_str(&String::from_utf8_lossy(&self.kept[..complete]));
        self.kept.drain(..complete);
    }
}

/// Whether these bytes at the end of a piece are the beginning of a character of UTF-8.
fn could_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn western(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WESTERN[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}
