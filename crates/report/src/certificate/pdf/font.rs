//! The fonts of a PDF file: three of the fourteen that every reader has, and how wide their letters are.

/// The fonts that every PDF reader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Font {
    Regular,
    Bold,
    Code,
}

impl Font {
    pub(super) const ALL: [Font; 3] = [Font::Regular, Font::Bold, Font::Code];

    /// Its name in PDF.
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Font::Regular => b"Helvetica",
            Font::Bold => b"Helvetica-Bold",
            Font::Code => b"Courier",
        }
    }

    /// What the pages of a file call it.
    pub(super) fn label(self) -> &'static [u8] {
        match self {
            Font::Regular => b"F1",
            Font::Bold => b"F2",
            Font::Code => b"F3",
        }
    }

    /// Width of a text in points, at this size.
    pub(super) fn width(self, text: &[u8], size: f32) -> f32 {
        let widths = match self {
            Font::Regular => &REGULAR,
            Font::Bold => &BOLD,
            Font::Code => return 0.6 * size * text.len() as f32,
        };
        let of = |byte: &u8| widths.get(usize::from(*byte).wrapping_sub(32));
        let thousandths: u32 = text
            .iter()
            .filter_map(of)
            .map(|&width| u32::from(width))
            .sum();
        size * thousandths as f32 / 1000.0
    }
}

/// Letters beyond ASCII and Latin-1 that the encoding has, with their bytes.
const BEYOND_LATIN_1: [(char, u8); 19] = [
    ('\u{20ac}', 0x80),
    ('\u{2026}', 0x85),
    ('\u{160}', 0x8a),
    ('\u{152}', 0x8c),
    ('\u{17d}', 0x8e),
    ('\u{2018}', 0x91),
    ('\u{2019}', 0x92),
    ('\u{201c}', 0x93),
    ('\u{201d}', 0x94),
    ('\u{2022}', 0x95),
    ('\u{2013}', 0x96),
    ('\u{2014}', 0x97),
    ('\u{2122}', 0x99),
    ('\u{161}', 0x9a),
    ('\u{153}', 0x9c),
    ('\u{17e}', 0x9e),
    ('\u{178}', 0x9f),
    ('\u{201e}', 0x84),
    ('\u{2032}', 0x92),
];

/// A text in WinAnsiEncoding, and whether it has all of its letters.
pub(super) fn encoded(text: &str) -> (Vec<u8>, bool) {
    let mut is_whole = true;
    let bytes = text.chars().map(|letter| match u32::from(letter) {
        // A control character is a blank.
        0..=31 | 127 => b' ',
        code @ (32..=126 | 160..=255) => code as u8,
        _ => {
            let known = BEYOND_LATIN_1.iter().find(|(one, _)| *one == letter);
            known.map_or_else(
                || {
                    is_whole = false;
                    b'?'
                },
                |(_, byte)| *byte,
            )
        }
    });
    let bytes = bytes.collect();
    (bytes, is_whole)
}

// Widths of the bytes from 32 on in thousandths of the size, as in Adobe's metrics of the fonts.
#[rustfmt::skip]
const REGULAR: [u16; 224] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, 365,
    556, 278, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333, 1000, 278, 611, 278,
    278, 222, 222, 333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 278, 500, 667,
    278, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 333, 737, 552,
    400, 549, 333, 333, 333, 576, 537, 278, 333, 333, 365, 556, 834, 834, 834, 611,
    667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278,
    722, 722, 778, 778, 778, 778, 778, 584, 778, 722, 722, 722, 722, 667, 667, 611,
    556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278, 278, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 549, 611, 556, 556, 556, 556, 500, 556, 500,
];

#[rustfmt::skip]
const BOLD: [u16; 224] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
    975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
    333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611,
    611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584, 365,
    556, 278, 278, 556, 500, 1000, 556, 556, 333, 1000, 667, 333, 1000, 278, 611, 278,
    278, 278, 278, 500, 500, 350, 556, 1000, 333, 1000, 556, 333, 944, 278, 500, 667,
    278, 333, 556, 556, 556, 556, 280, 556, 333, 737, 370, 556, 584, 333, 737, 552,
    400, 549, 333, 333, 333, 576, 556, 278, 333, 333, 365, 556, 834, 834, 834, 611,
    722, 722, 722, 722, 722, 722, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278,
    722, 722, 778, 778, 778, 778, 778, 584, 778, 722, 722, 722, 722, 667, 667, 611,
    556, 556, 556, 556, 556, 556, 889, 556, 556, 556, 556, 556, 278, 278, 278, 278,
    611, 611, 611, 611, 611, 611, 611, 549, 611, 611, 611, 611, 611, 556, 611, 556,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_measured_and_encoded() {
        assert!((Font::Regular.width(b"Hello", 10.0) - 22.78).abs() < 1e-3);
        assert!((Font::Bold.width(b"PASS", 10.0) - 27.23).abs() < 1e-3);
        assert!((Font::Code.width(b"0a", 10.0) - 12.0).abs() < 1e-3);
        assert_eq!(
            encoded("M\u{fc}nchen \u{20ac}"),
            (b"M\xfcnchen \x80".to_vec(), true)
        );
        assert_eq!(
            encoded("\u{141}\u{f3}d\u{17a}\n"),
            (b"?\xf3d? ".to_vec(), false)
        );
    }
}
