//! Lines and words, from the places of characters.

use super::object::Object;
use crate::text::Text;

/// A mapping of places: x' = ax + cy + e, y' = bx + dy + f.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix([f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn of(operands: &[Object]) -> Self {
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0);
        Self(std::array::from_fn(number))
    }

    pub(super) fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// This mapping and `next` after it.
    pub(super) fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [a2, b2, c2, d2, e2, f2]) = (self.0, next.0);
        Self([
            a * a2 + b * c2,
            a * b2 + b * d2,
            c * a2 + d * c2,
            c * b2 + d * d2,
            e * a2 + f * c2 + e2,
            e * b2 + f * d2 + f2,
        ])
    }

    fn origin(self) -> (f64, f64) {
        (self.0[4], self.0[5])
    }

    /// The direction of writing, of length 1.
    fn direction(self) -> (f64, f64) {
        let (x, y) = (self.0[0], self.0[1]);
        let length = x.hypot(y);
        if length > 0.0 { (x / length, y / length) } else { (1.0, 0.0) }
    }

    /// The height of a font of this size.
    fn height(self, size: f64) -> f64 {
        (self.0[2].hypot(self.0[3]) * size).abs()
    }
}

/// The end of the last character.
#[derive(Debug, Clone, Copy)]
struct End {
    place: (f64, f64),
    direction: (f64, f64),
    height: f64,
}

/// Puts characters into lines.
#[derive(Debug, Default)]
pub(super) struct Layout {
    last: Option<End>,
}

impl Layout {
    /// Adds a character that reaches from one place to another.
    pub(super) fn put(&mut self, glyph: &str, from: Matrix, to: Matrix, size: f64, text: &mut Text) {
        let height = from.height(size);
        if let Some(last) = self.last {
            separate(last, from, height, text);
        }
        let shown = glyph.trim_matches(['\0', '\r', '\n']);
        if !(shown.trim().is_empty() && text.ends_with_blank()) {
            text.push(shown);
        }
        self.last = Some(End { place: to.origin(), direction: from.direction(), height });
    }

    /// Starts a new page.
    pub(super) fn end_page(&mut self, text: &mut Text) {
        self.last = None;
        if !text.ends_line() {
            text.end_paragraph();
        }
    }
}

/// Ends the line or the word where there is a gap.
fn separate(last: End, from: Matrix, height: f64, text: &mut Text) {
    let (x, y) = from.origin();
    let (dx, dy) = (x - last.place.0, y - last.place.1);
    let (ux, uy) = last.direction;
    let (along, across) = (dx * ux + dy * uy, (dy * ux - dx * uy).abs());
    let unit = last.height.max(height);
    let (vx, vy) = from.direction();
    let is_turned = ux * vx + uy * vy < 0.5;
    if is_turned || across > 0.6 * unit {
        match across > 2.2 * unit {
            true => text.end_paragraph(),
            false => text.end_line(),
        }
    } else if (along > 0.17 * unit || along < -unit) && !text.ends_with_blank() {
        text.push(" ");
    }
}
