//! The one table of settings. Each section of a profile lists its settings once, in its `visit`
//! function; the loader, `--set`, the commented TOML and the documentation all walk that list.

use std::ops::RangeInclusive;

use super::quantity::{ByteSize, TimeSpan};

/// A scalar as it stood in a profile or behind `--set`.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A string.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// Something no setting takes; the text names it ("an array").
    Other(&'static str),
}

/// One setting while a visitor looks at it.
pub struct Setting<'a> {
    /// The last part of its path.
    pub key: &'static str,
    /// Its value.
    pub value: &'a mut dyn SettingValue,
    /// What it does, as whole sentences.
    pub meaning: &'static str,
    /// Where its default comes from.
    pub source: &'static str,
}

/// Walks over the settings of a profile.
pub trait SettingVisitor {
    /// The settings that follow belong to the table `path` (empty for the top level).
    fn section(&mut self, path: &'static str, meaning: &'static str);
    /// One setting of the current section.
    fn setting(&mut self, setting: Setting<'_>);
}

/// A value that can be read from a scalar and written as TOML.
pub trait SettingValue {
    /// Takes the value over.
    ///
    /// # Errors
    /// A sentence saying what is wrong and what would be right. The value is then unchanged.
    fn set(&mut self, scalar: &Scalar) -> Result<(), String>;
    /// The value as a TOML literal.
    fn literal(&self) -> String;
    /// What would be right, to follow the word "write".
    fn expected(&self) -> String;
}

/// A number, size or time with its bounds.
pub struct Within<'a, T>(pub &'a mut T, pub RangeInclusive<T>);

/// A limit in the form of a time, kept as a number of milliseconds or seconds. The word "none"
/// stands for infinity: nothing is judged.
pub struct Limit<'a> {
    value: &'a mut f64,
    unit_ns: f64,
    range: RangeInclusive<TimeSpan>,
}

/// On or off.
pub struct Switch<'a>(pub &'a mut bool);

/// Free text.
pub struct Text<'a>(pub &'a mut String);

/// One of a few names.
pub struct Choice<'a, T>(pub &'a mut T);

/// A number, size or time within bounds, or a word that stands for "none".
pub struct OrWord<'a, T> {
    /// The word that means `None`.
    pub word: &'static str,
    /// Where the value lives.
    pub value: &'a mut Option<T>,
    /// The bounds of a number.
    pub range: RangeInclusive<T>,
}

/// A type whose values have names in a profile.
pub trait Named: Copy + PartialEq + 'static {
    /// Every value with its name.
    const NAMES: &'static [(&'static str, Self)];
}

/// Something measurable that a setting can hold.
pub trait Quantity: Copy + PartialOrd {
    /// What kind of thing to write, such as "a size".
    const KIND: &'static str;
    /// The quantity that a scalar stands for.
    ///
    /// # Errors
    /// `Some` sentence when more can be said than that the type is wrong.
    fn read(scalar: &Scalar) -> Result<Self, Option<String>>;
    /// The quantity as a TOML literal.
    fn literal(self) -> String;
    /// Whether this is the largest value there is, so that it bounds nothing.
    fn is_boundless(self) -> bool {
        false
    }
}

impl Scalar {
    /// The scalar as an error message calls it.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Integer(number) => format!("the number {number}"),
            Self::Float(number) => format!("the number {number:?}"),
            Self::Text(text) => format!("the text \"{text}\""),
            Self::Flag(flag) => format!("{flag}"),
            Self::Other(kind) => (*kind).to_owned(),
        }
    }

    /// The sentence for a scalar of the wrong type.
    fn misfit(&self, expected: &str) -> String {
        format!("{} does not fit here; write {expected}", self.described())
    }
}

impl Quantity for u32 {
    const KIND: &'static str = "a whole number";

    fn read(scalar: &Scalar) -> Result<Self, Option<String>> {
        match scalar {
            Scalar::Integer(number) => {
                Self::try_from(*number).map_err(|_| Some(format!("{number} is out of range")))
            }
            _ => Err(None),
        }
    }

    fn literal(self) -> String {
        self.to_string()
    }

    fn is_boundless(self) -> bool {
        self == Self::MAX
    }
}

impl Quantity for u64 {
    const KIND: &'static str = "a whole number";

    fn read(scalar: &Scalar) -> Result<Self, Option<String>> {
        match scalar {
            Scalar::Integer(number) => {
                Self::try_from(*number).map_err(|_| Some(format!("{number} is out of range")))
            }
            _ => Err(None),
        }
    }

    fn literal(self) -> String {
        self.to_string()
    }

    fn is_boundless(self) -> bool {
        self == Self::MAX
    }
}

impl Quantity for f64 {
    const KIND: &'static str = "a number";

    fn read(scalar: &Scalar) -> Result<Self, Option<String>> {
        match scalar {
            Scalar::Integer(number) => Ok(*number as Self),
            Scalar::Float(number) if number.is_finite() => Ok(*number),
            _ => Err(None),
        }
    }

    fn literal(self) -> String {
        if self.fract() == 0.0 && self.abs() < 1e15 {
            return format!("{self}");
        }
        format!("{self:?}")
    }
}

impl Quantity for ByteSize {
    const KIND: &'static str = "a size";

    fn read(scalar: &Scalar) -> Result<Self, Option<String>> {
        match scalar {
            Scalar::Integer(number) if *number >= 0 => Ok(Self(number.unsigned_abs())),
            Scalar::Text(text) => Self::parse(text).map_err(Some),
            _ => Err(None),
        }
    }

    fn literal(self) -> String {
        format!("\"{self}\"")
    }
}

impl Quantity for TimeSpan {
    const KIND: &'static str = "a time";

    fn read(scalar: &Scalar) -> Result<Self, Option<String>> {
        match scalar {
            Scalar::Integer(0) => Ok(Self(0)),
            Scalar::Integer(number) if *number > 0 => Err(Some(format!(
                "the number {number} has no unit of time, such as \"{number}s\" or \"{number}ms\""
            ))),
            Scalar::Text(text) => Self::parse(text).map_err(Some),
            _ => Err(None),
        }
    }

    fn literal(self) -> String {
        format!("\"{self}\"")
    }
}

/// Reads a quantity and holds it against its bounds.
fn read_within<T: Quantity>(scalar: &Scalar, range: &RangeInclusive<T>) -> Result<T, String> {
    let expected = expected_within(range);
    let found = T::read(scalar).map_err(|problem| match problem {
        Some(sentence) if sentence.contains("write") => sentence,
        Some(sentence) => format!("{sentence}; write {expected}"),
        None => scalar.misfit(&expected),
    })?;
    if range.contains(&found) {
        return Ok(found);
    }
    Err(format!(
        "{} is out of range; write {expected}",
        found.literal()
    ))
}

fn expected_within<T: Quantity>(range: &RangeInclusive<T>) -> String {
    let (low, high) = (range.start().literal(), range.end().literal());
    if range.end().is_boundless() {
        return format!("{}, {low} or more", T::KIND);
    }
    format!("{} from {low} to {high}", T::KIND)
}

impl<T: Quantity> SettingValue for Within<'_, T> {
    fn set(&mut self, scalar: &Scalar) -> Result<(), String> {
        *self.0 = read_within(scalar, &self.1)?;
        Ok(())
    }

    fn literal(&self) -> String {
        self.0.literal()
    }

    fn expected(&self) -> String {
        expected_within(&self.1)
    }
}

impl<T: Quantity> SettingValue for OrWord<'_, T> {
    fn set(&mut self, scalar: &Scalar) -> Result<(), String> {
        *self.value = match scalar {
            Scalar::Text(text) if text == self.word => None,
            _ => Some(
                read_within(scalar, &self.range)
                    .map_err(|message| format!("{message}, or \"{}\"", self.word))?,
            ),
        };
        Ok(())
    }

    fn literal(&self) -> String {
        self.value
            .map_or_else(|| format!("\"{}\"", self.word), Quantity::literal)
    }

    fn expected(&self) -> String {
        format!("{}, or \"{}\"", expected_within(&self.range), self.word)
    }
}

impl<'a> Limit<'a> {
    /// A latency, kept in milliseconds.
    pub fn millis(value: &'a mut f64) -> Self {
        Self {
            value,
            unit_ns: 1e6,
            range: TimeSpan(1_000)..=TimeSpan::seconds(600),
        }
    }

    /// A length of time up to `longest`, kept in seconds.
    pub fn seconds(value: &'a mut f64, longest: TimeSpan) -> Self {
        Self {
            value,
            unit_ns: 1e9,
            range: TimeSpan(0)..=longest,
        }
    }
}

/// The word for a limit that is not judged.
const UNLIMITED: &str = "none";

impl SettingValue for Limit<'_> {
    fn set(&mut self, scalar: &Scalar) -> Result<(), String> {
        *self.value = match scalar {
            Scalar::Text(text) if text == UNLIMITED => f64::INFINITY,
            _ => {
                let found = read_within(scalar, &self.range)
                    .map_err(|message| format!("{message}, or \"{UNLIMITED}\""))?;
                found.as_ns() as f64 / self.unit_ns
            }
        };
        Ok(())
    }

    fn literal(&self) -> String {
        if self.value.is_infinite() {
            return format!("\"{UNLIMITED}\"");
        }
        TimeSpan((*self.value * self.unit_ns).round() as u64).literal()
    }

    fn expected(&self) -> String {
        format!("{}, or \"{UNLIMITED}\"", expected_within(&self.range))
    }
}

impl SettingValue for Switch<'_> {
    fn set(&mut self, scalar: &Scalar) -> Result<(), String> {
        let Scalar::Flag(flag) = scalar else {
            return Err(scalar.misfit(&self.expected()));
        };
        *self.0 = *flag;
        Ok(())
    }

    fn literal(&self) -> String {
        self.0.to_string()
    }

    fn expected(&self) -> String {
        "true or false".to_owned()
    }
}

impl SettingValue for Text<'_> {
    fn set(&mut self, scalar: &Scalar) -> Result<(), String> {
        let Scalar::Text(text) = scalar else {
            return Err(scalar.misfit(&self.expected()));
        };
        text.clone_into(self.0);
        Ok(())
    }

    fn literal(&self) -> String {
        quoted(self.0)
    }

    fn expected(&self) -> String {
        "a text in quotes".to_owned()
    }
}

impl<T: Named> SettingValue for Choice<'_, T> {
    fn set(&mut self, scalar: &Scalar) -> Result<(), String> {
        let found = match scalar {
            Scalar::Text(text) => T::NAMES.iter().find(|(name, _)| name == text),
            _ => None,
        };
        let (_, value) = found.ok_or_else(|| scalar.misfit(&self.expected()))?;
        *self.0 = *value;
        Ok(())
    }

    fn literal(&self) -> String {
        let name = T::NAMES.iter().find(|(_, value)| value == self.0);
        format!("\"{}\"", name.map_or("", |(name, _)| name))
    }

    fn expected(&self) -> String {
        let names: Vec<String> = T::NAMES.iter().map(|(n, _)| format!("\"{n}\"")).collect();
        names.join(" or ")
    }
}

/// `text` as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
