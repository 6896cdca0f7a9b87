//! A curve of one line of characters.

/// Eighths of a character, from the lowest.
const EIGHTHS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];

/// The same for terminals that know ASCII alone.
const LEVELS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// A curve of at most `width` characters from zero to the largest value; each character is the largest of
/// its values, so that no peak is missed. What is not known is a blank.
pub fn spark(values: &[Option<f64>], width: usize, unicode: bool) -> String {
    if values.is_empty() || width == 0 {
        return String::new();
    }
    let known = |value: &Option<f64>| value.filter(|value| value.is_finite() && *value >= 0.0);
    let top = values.iter().filter_map(known).fold(0.0, f64::max);
    let levels = if unicode { EIGHTHS } else { LEVELS };
    let cells = width.min(values.len());
    let cell = |index: usize| {
        let (from, to) = (
            index * values.len() / cells,
            (index + 1) * values.len() / cells,
        );
        let of_cell = values[from..to].iter().filter_map(known);
        match of_cell.reduce(f64::max) {
            Some(value) if top > 0.0 => levels[((value / top * 8.0) as usize).min(7)],
            Some(_) => levels[0],
            None => ' ',
        }
    };
    (0..cells).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_keeps_its_peaks_and_gaps() {
        let values = [Some(0.0), Some(4.0), None, Some(8.0), Some(1.0), Some(1.0)];
        assert_eq!(spark(&values, 6, false), "_= #..");
        assert_eq!(spark(&values, 3, false), "=#.");
        assert_eq!(spark(&values[..1], 6, false), "_");
        assert_eq!(spark(&[], 6, false), "");
        assert_eq!(spark(&[None, None], 6, true), "  ");
        assert_eq!(spark(&[Some(1.0)], 6, true), "\u{2588}");
    }
}
