//! The frame of a drawing: where values lie in it, and how places and colours are written.

use super::Scale;

/// Size of the drawing and the frame of its axes, in the units of the SVG.
pub(super) const WIDTH: f64 = 560.0;
pub(super) const HEIGHT: f64 = 262.0;
pub(super) const LEFT: f64 = 46.0;
pub(super) const RIGHT: f64 = 550.0;
pub(super) const TOP: f64 = 10.0;
pub(super) const BOTTOM: f64 = 224.0;

/// Both scales of a drawing.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) horizontal: Scale,
    pub(super) vertical: Scale,
}

impl Frame {
    pub(super) fn x(self, value: f64) -> f64 {
        LEFT + self.horizontal.place(value) * (RIGHT - LEFT)
    }

    pub(super) fn y(self, value: f64) -> f64 {
        BOTTOM - self.vertical.place(value) * (BOTTOM - TOP)
    }
}

/// A coordinate with one decimal, without a needless `.0`.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0")
        .map_or(text.clone(), ToString::to_string)
}

/// The class number of a colour: 1 to 8, going round.
pub(super) fn tone(tone: usize) -> usize {
    tone % 8 + 1
}
