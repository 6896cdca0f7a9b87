//! The laws of the books in words, by the names under which broken ones are reported.

/// A name, and what it says.
pub type Law = (&'static str, &'static str);

/// Every law that [`super::check`] looks at.
pub const LAWS: [Law; 16] = [
    ("positions", "Every position is the sum of its lots."),
    ("empty positions", "No position is of no shares."),
    ("empty lots", "No lot is of no shares."),
    (
        "histories of lots",
        "Every lot is what its history leaves of it.",
    ),
    (
        "shares of trades",
        "Every completed trade has changed as many shares as it traded.",
    ),
    (
        "settlements of trades",
        "Every completed trade has a settlement.",
    ),
    (
        "trades of settlements",
        "Every settlement is of a completed trade.",
    ),
    (
        "cash of trades",
        "Every trade for cash has moved what was settled.",
    ),
    (
        "trades of cash",
        "Every movement of cash is of a completed trade for cash.",
    ),
    (
        "steps of trades",
        "The history of every trade fits its status.",
    ),
    (
        "trades of requests",
        "Every request is of a pending limit order.",
    ),
    ("requests of trades", "Every pending order has its request."),
    (
        "trades of brokers",
        "Brokers have counted as many trades as were completed.",
    ),
    (
        "commissions of brokers",
        "Brokers have the commissions of their trades.",
    ),
    (
        "balances of accounts",
        "Balances have changed by the cash that moved.",
    ),
    ("states", "No trade has a status that none may have."),
];

/// What the law of this name says.
pub(super) fn rule_of(name: &str) -> &str {
    let law = LAWS.iter().find(|law| law.0 == name);
    law.map_or(name, |law| law.1)
}

#[cfg(test)]
mod tests {
    use super::super::invariants::INVARIANTS;
    use super::*;

    #[test]
    fn every_invariant_has_its_law() {
        for invariant in &INVARIANTS {
            let mut named = LAWS.iter().filter(|(name, _)| *name == invariant.name);
            assert!(named.next().is_some(), "{}", invariant.name);
        }
    }
}
