//! Whose line a broken rule comes from.
//!
//! A rule is often about two keys, and what one layer writes may clash with what another one wrote
//! below it: a file says `disk_count = 3`, and the array it extends says `raid = "raid6"`. Shown
//! where the rule looks, that is a line which nobody wrote. So what was laid over it is left out
//! again, piece by piece, until the fault is gone: that piece is what to change.

use super::bundled::bundled_array;
use super::expand::DatabaseDemand;
use super::load::Description;
use super::node::{Node, NodeValue};
use super::source::{DescriptionFault, Location, Source};

/// No more pieces than this are left out to look what happens.
const TRIED_MAX: usize = 400;

impl Description {
    /// The faults, each at the line that caused it. `faults_of` says what is wrong with a description
    /// that differs a little.
    pub(super) fn blamed(
        &self,
        faults: Vec<DescriptionFault>,
        faults_of: impl Fn(&Self) -> Vec<DescriptionFault>,
    ) -> Vec<DescriptionFault> {
        let lowest = faults.iter().filter_map(|fault| fault.place.as_ref());
        let lowest = lowest.map(|place| self.rank(place)).min().unwrap_or(0);
        let pieces = self.laid_over(lowest);
        let without: Vec<(Location, Vec<DescriptionFault>)> = pieces
            .into_iter()
            .filter_map(|piece| {
                let other = Self::without(&self.given, std::slice::from_ref(&piece))?;
                let faults = faults_of(&other);
                Some((piece, faults))
            })
            .collect();
        let one = |fault| self.blame(fault, &without);
        let mut blamed: Vec<DescriptionFault> = faults.into_iter().map(one).collect();
        blamed.sort_by_key(|fault| self.line_of(fault));
        let mut told: Vec<DescriptionFault> = Vec::new();
        for fault in blamed {
            if !told.iter().any(|known| known.is_like(&fault)) {
                told.push(fault);
            }
        }
        told
    }

    /// One fault at the piece without which it is not there.
    fn blame(
        &self,
        mut fault: DescriptionFault,
        without: &[(Location, Vec<DescriptionFault>)],
    ) -> DescriptionFault {
        let Some(place) = fault.place.clone() else {
            return fault;
        };
        let is_over = |piece: &Location| self.rank(piece) > self.rank(&place);
        let is_gone = |left: &[DescriptionFault]| {
            !left
                .iter()
                .any(|other| other.place.as_ref() == Some(&place))
        };
        let cause = without
            .iter()
            .find(|(piece, left)| is_over(piece) && is_gone(left));
        let (source, line) = (&self.sources[place.source].name, self.shown_line(&place));
        let added = match cause {
            Some((piece, _)) => {
                fault.place = Some(piece.clone());
                Some(format!("this does not go with `{line}` in {source}"))
            }
            None => self.heir(&place).map(|heir| {
                let own = match bundled_array(heir) {
                    Some(_) => "a file of your own",
                    None => heir,
                };
                format!("`{line}` stands in {source}, which {heir} extends; the key in {own} goes over it")
            }),
        };
        fault.help = match (fault.help, added) {
            (Some(help), Some(added)) => Some(format!("{help}; {added}")),
            (help, added) => help.or(added),
        };
        fault
    }

    /// What was given that inherits the line at a place; `None` when that stands in it itself.
    fn heir(&self, place: &Location) -> Option<&str> {
        let is_given = |number: &&usize| {
            let name = &self.sources[**number].name;
            self.given.iter().any(|given| given.name == *name)
        };
        let after = self.order.iter().skip_while(|one| **one != place.source);
        let heir = after.clone().find(is_given)?;
        (*heir != place.source).then(|| self.sources[*heir].name.as_str())
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

    /// How many layers lie below that of a place.
    fn rank(&self, place: &Location) -> usize {
        let found = self.order.iter().position(|one| *one == place.source);
        found.unwrap_or(self.order.len())
    }

    fn line_of(&self, fault: &DescriptionFault) -> Option<(usize, usize)> {
        let place = fault.place.as_ref()?;
        Some((self.rank(place), place.span.start))
    }

    /// The line that a place stands on.
    fn shown_line(&self, place: &Location) -> &str {
        let text = &self.sources[place.source].text;
        let from = text[..place.span.start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[from..].lines().next().unwrap_or_default();
        line.split('#').next().unwrap_or_default().trim()
    }
}

/// Adds to faults of types and names the rules that are broken elsewhere, so that both are told in
/// one go, in the order of the lines. To see those rules, what is wrong is left out, and what the
/// description extends stands in for it.
pub(super) fn with_broken_rules(
    sources: &[Source],
    mut faults: Vec<DescriptionFault>,
) -> Vec<DescriptionFault> {
    let places: Vec<Location> = faults
        .iter()
        .filter_map(|fault| fault.place.clone())
        .collect();
    let Some(rest) = Description::without(sources, &places) else {
        faults.sort_by_key(|fault| fault.place.as_ref().map(|p| (p.source, p.span.start)));
        return faults;
    };
    let demand = DatabaseDemand {
        name: "any".to_owned(),
        data_bytes: 0,
        log_bytes: 0,
    };
    // What it will be used for is not known here: with databases on it a description breaks rules
    // that it need not keep for a trace, and without them others. What is broken with and without
    // is wrong in any case.
    let used = [rest.plan(&[demand]), rest.plan(&[])];
    if let [Err(with), Err(without)] = used {
        let in_any_case =
            |fault: &DescriptionFault| without.faults.iter().any(|other| other.is_like(fault));
        let own = |fault: &DescriptionFault| {
            let source = fault
                .place
                .as_ref()
                .map(|place| &rest.sources[place.source].name);
            source.is_some_and(|name| sources.iter().any(|given| given.name == *name))
        };
        let broken = with.faults.into_iter().filter(in_any_case);
        faults.extend(broken.filter(own));
    }
    faults.sort_by_key(|fault| rest.line_of(fault));
    faults
}
