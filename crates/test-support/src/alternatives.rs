//! Every setting with other values that are valid for it, so that a test can change one after the
//! other and see what each does.

use config::{ByteSize, Settings, Shape, Source, TimeSpan, Value, each_setting};

/// A setting, and what else may be written for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternatives {
    /// Its dotted path, as `--set` takes it; elements of lists by their numbers.
    pub path: String,
    /// What it is now; `None` where it is left out.
    pub current: Option<Value>,
    /// Other values within its bounds, those that change it least first. Empty when it has none.
    pub others: Vec<Value>,
}

impl Alternatives {
    /// The changes as `--set` takes them: `path=value`.
    pub fn assignments(&self) -> impl Iterator<Item = String> {
        let others = self.others.iter();
        others.map(|value| format!("{}={}", self.path, value.literal()))
    }
}

/// The source that `--set` with `path=value` is.
///
/// # Panics
///
/// Without a value.
#[must_use]
pub fn set(assignment: &str) -> Source {
    let (path, value) = assignment.split_once('=').expect("PATH=VALUE");
    Source::value("--set", path, value)
}

/// Every setting in `settings`, in the order of the declaration, with other values that each can
/// take. Rules between settings may still forbid some of them. Tables that are left out are not
/// looked into.
#[must_use]
pub fn alternatives<T: Settings>(settings: &T) -> Vec<Alternatives> {
    let mut found = Vec::new();
    each_setting(settings, &mut |path, shape, current| {
        let mut others = Vec::new();
        for other in others_of(shape, current) {
            if current != Some(&other) && !others.contains(&other) {
                others.push(other);
            }
        }
        found.push(Alternatives {
            path: path.to_owned(),
            current: current.cloned(),
            others,
        });
    });
    found
}

/// Whole numbers about `current` and at the ends of the range.
fn whole_numbers(low: u64, high: u64, current: Option<u64>) -> Vec<u64> {
    let high = high.min(i64::MAX.unsigned_abs());
    let middle = low + (high - low) / 2;
    let now = current.unwrap_or(low).clamp(low, high);
    let near = [
        now.saturating_add(1),
        now.saturating_sub(1),
        now.saturating_mul(2),
        now / 2,
        now.saturating_mul(16),
        now / 16,
        middle,
        low,
        high,
    ];
    let within = near
        .into_iter()
        .filter(|other| (low..=high).contains(other));
    within.collect()
}

fn others_of(shape: &Shape, current: Option<&Value>) -> Vec<Value> {
    let text = match current {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    match shape {
        Shape::Flag => vec![Value::Flag(current != Some(&Value::Flag(true)))],
        Shape::Text => vec![Value::Text(format!("{}x", text.unwrap_or_default()))],
        Shape::Whole { low, high } => {
            let now = match current {
                Some(Value::Whole(number)) => Some(*number),
                _ => None,
            };
            let others = whole_numbers(*low, *high, now);
            others.into_iter().map(Value::Whole).collect()
        }
        Shape::Number { low, high } => {
            let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(1e9));
            let now = match current {
                Some(Value::Number(number)) if number.is_finite() => *number,
                _ => low,
            };
            let middle = low + (high - low) / 2.0;
            let near = [
                now * 2.0,
                now / 2.0,
                now + 1.0,
                now - 1.0,
                middle,
                low,
                high,
            ];
            let within = near
                .into_iter()
                .filter(|other| (low..=high).contains(other));
            within.map(Value::Number).collect()
        }
        Shape::Size { low, high } => {
            let now = text.and_then(|text| ByteSize::parse(text).ok());
            let others = whole_numbers(low.0, high.0, now.map(ByteSize::bytes));
            let text = |bytes: u64| Value::Text(ByteSize(bytes).to_string());
            // Sizes are seldom odd: doubled and halved ones first.
            let (near, rest) = others.split_at(others.len().min(2));
            rest.iter().chain(near).copied().map(text).collect()
        }
        Shape::Time { low, high } => {
            let now = text.and_then(|text| TimeSpan::parse(text).ok());
            let others = whole_numbers(low.0, high.0, now.map(TimeSpan::as_ns));
            let text = |ns: u64| Value::Text(TimeSpan(ns).to_string());
            let (near, rest) = others.split_at(others.len().min(2));
            rest.iter().chain(near).copied().map(text).collect()
        }
        Shape::Choice(names) => {
            let names = names
                .iter()
                .map(|(name, _)| Value::Text((*name).to_owned()));
            names.collect()
        }
        Shape::Word(word) => vec![Value::Text((*word).to_owned())],
        Shape::Either(one, other) => {
            let mut all = others_of(other, current);
            all.extend(others_of(one, current));
            all
        }
        Shape::List(inner) => {
            let list = match current {
                Some(Value::List(list)) => list.clone(),
                _ => Vec::new(),
            };
            let added = others_of(inner, list.last()).into_iter().next();
            let longer = list.iter().cloned().chain(added).collect();
            let shorter = list.iter().skip(1).cloned().collect();
            vec![Value::List(longer), Value::List(shorter)]
        }
        Shape::Table(_) | Shape::Named(_) => Vec::new(),
    }
}
