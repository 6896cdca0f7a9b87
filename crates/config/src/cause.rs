//! Which line a broken rule comes from.
//!
//! A rule is often about two keys, and what one layer writes may clash with what another one wrote
//! below it: a file says `disk_count = 3`, and the array it extends says `raid = "raid6"`. Shown
//! where the rule looks, that is a line which nobody wrote. So what was laid over it is left out
//! again, piece by piece, until the fault is gone: that piece is what to change.

use crate::codec::Settings;
use crate::document::Document;
use crate::layers::Layers;
use crate::node::{Node, NodeValue};
use crate::source::{ConfigError, Diagnostic, Location, Source};

/// No more pieces than this are left out to look what happens.
const TRIED_MAX: usize = 400;

impl<T: Settings> Document<T> {
    /// The diagnostics of broken rules, each at the line that caused it. `broken` says which rules
    /// a document breaks that differs a little.
    #[must_use]
    pub fn located(
        &self,
        diagnostics: Vec<Diagnostic>,
        broken: impl Fn(&Self) -> Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let layers = &self.layers;
        let lowest = diagnostics.iter().filter_map(|one| one.location.as_ref());
        let lowest = lowest.map(|place| layers.rank(place)).min().unwrap_or(0);
        let without: Vec<(Location, Vec<Diagnostic>)> = layers
            .laid_over(lowest)
            .into_iter()
            .filter_map(|piece| {
                let mut omitted = layers.omitted.clone();
                omitted.push(piece.clone());
                let other = Self::without(layers.format, &layers.given, &omitted)?;
                Some((piece, broken(&other)))
            })
            .collect();
        let one = |diagnostic| layers.locate(diagnostic, &without);
        let located = layers.sorted(diagnostics.into_iter().map(one).collect());
        let mut distinct: Vec<Diagnostic> = Vec::new();
        for diagnostic in located {
            if !distinct.iter().any(|known| known.is_like(&diagnostic)) {
                distinct.push(diagnostic);
            }
        }
        distinct
    }

    /// Reads sources as [`Document::load`] does. If types or names are wrong, the rules that are
    /// broken elsewhere are reported in one go with them. To see those rules, what is wrong is left
    /// out, and what the document extends stands in for it; of what they then find, `broken` gives
    /// only what is wrong whatever the document is used for.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the lines.
    pub fn load_with_rules(
        format: &'static crate::Format,
        sources: &[Source],
        broken: impl Fn(&Self) -> Vec<Diagnostic>,
    ) -> Result<Self, ConfigError> {
        let layers = Layers::join(format, sources);
        let is_sound = layers.is_sound();
        let mut error = match layers.read(None) {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let found = error.diagnostics.iter();
        let places: Vec<Location> = found.filter_map(|one| one.location.clone()).collect();
        let rest = match is_sound {
            true => Self::without(format, sources, &places),
            false => None,
        };
        if let Some(rest) = rest {
            let is_given = |diagnostic: &Diagnostic| {
                let place = diagnostic.location.as_ref();
                let source = place.map(|place| &rest.layers.sources[place.source].name);
                source.is_some_and(|name| sources.iter().any(|given| given.name == *name))
            };
            error
                .diagnostics
                .extend(broken(&rest).into_iter().filter(is_given));
            error.diagnostics = rest.layers.sorted(error.diagnostics);
        }
        Err(error)
    }
}

impl Layers {
    /// One diagnostic at the piece without which it is not there.
    fn locate(
        &self,
        mut diagnostic: Diagnostic,
        without: &[(Location, Vec<Diagnostic>)],
    ) -> Diagnostic {
        let Some(place) = diagnostic.location.clone() else {
            return diagnostic;
        };
        let is_over = |piece: &Location| self.rank(piece) > self.rank(&place);
        let is_gone = |left: &[Diagnostic]| {
            !left
                .iter()
                .any(|other| other.location.as_ref() == Some(&place))
        };
        let cause = without
            .iter()
            .find(|(piece, left)| is_over(piece) && is_gone(left));
        let Some(source) = self.sources.get(place.source) else {
            return diagnostic;
        };
        let (source, line) = (&source.name, self.shown_line(&place));
        let added = match cause {
            Some((piece, _)) => {
                diagnostic.location = Some(piece.clone());
                Some(format!("this does not go with `{line}` in {source}"))
            }
            None => self.extended_by(&place).map(|extending| {
                let own = match (self.format.bundled)(extending) {
                    Some(_) => "a file of your own",
                    None => extending,
                };
                format!(
                    "`{line}` stands in {source}, which {extending} extends; the key in {own} goes \
                     over it"
                )
            }),
        };
        diagnostic.help = match (diagnostic.help, added) {
            (Some(help), Some(added)) => Some(format!("{help}; {added}")),
            (help, added) => help.or(added),
        };
        diagnostic
    }

    /// What was given that inherits the line at a place; `None` when that stands in it itself.
    fn extended_by(&self, place: &Location) -> Option<&str> {
        let is_given = |number: &&usize| {
            let name = &self.sources[**number].name;
            self.given.iter().any(|given| given.name == *name)
        };
        let after = self.order.iter().skip_while(|one| **one != place.source);
        let extending = after.clone().find(is_given)?;
        (*extending != place.source).then(|| self.sources[*extending].name.as_str())
    }

    /// Everything in layers above the one of this rank: keys before the tables around them.
    fn laid_over(&self, rank: usize) -> Vec<Location> {
        let nodes = self.root.below().into_iter();
        let (tables, keys): (Vec<_>, Vec<_>) = nodes
            .filter(|node| !node.key.is_empty())
            .partition(|node| matches!(node.value, NodeValue::Table(_) | NodeValue::List(_)));
        let places = keys.into_iter().chain(tables);
        let mut pieces: Vec<Location> = Vec::new();
        for piece in places.map(Node::key_location) {
            if self.rank(&piece) > rank && !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
        pieces.truncate(TRIED_MAX);
        pieces
    }

    /// The line that a place stands on.
    fn shown_line(&self, place: &Location) -> &str {
        let text = &self.sources[place.source].text;
        let from = text[..place.span.start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[from..].lines().next().unwrap_or_default();
        line.split('#').next().unwrap_or_default().trim()
    }
}
