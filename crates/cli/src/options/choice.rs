//! Options that take one of the named values of a type.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use config::Choice;

/// Reads one of the named values of a type; help and completions show what each means.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let names = T::NAMES.iter();
    let names = names.map(|(name, _, meaning)| {
        PossibleValue::new(*name).help(meaning.trim().trim_end_matches('.'))
    });
    PossibleValuesParser::new(names.collect::<Vec<_>>())
        .try_map(|name| T::of_name(&name).ok_or("there is no such value"))
}
