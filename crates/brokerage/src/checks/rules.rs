//! The consistency checks by name, with their rules as the report prints them.

/// Name of a check, and its rule in a sentence.
pub type Rule = (&'static str, &'static str);

/// Every check made by [`super::check`], in order.
pub const CONSISTENCY_CHECKS: [Rule; 21] = [
    ("positions", "Every position is the sum of its lots."),
    ("empty positions", "No position has zero shares."),
    ("empty lots", "No lot has zero shares."),
    (
        "histories of lots",
        "Every lot equals the sum of its history.",
    ),
    (
        "shares of trades",
        "Every completed trade changed as many shares as it traded.",
    ),
    (
        "settlements of trades",
        "Every completed trade has a settlement.",
    ),
    (
        "trades of settlements",
        "Every settlement belongs to a completed trade.",
    ),
    (
        "cash of trades",
        "Every cash trade moved the settled amount.",
    ),
    (
        "trades of cash",
        "Every cash transaction belongs to a completed cash trade.",
    ),
    (
        "steps of trades",
        "The history of every trade matches its status.",
    ),
    (
        "trades of requests",
        "Every request belongs to a pending limit order.",
    ),
    ("requests of trades", "Every pending order has its request."),
    (
        "costs of trades",
        "Every trade has the charge and commission of its rates, and no limit order a price beyond \
         its limit.",
    ),
    (
        "amounts of settlements",
        "Every settlement is the value of its trade less charge, commission and withheld tax.",
    ),
    (
        "times of trades",
        "The times of every trade, its steps, its settlement and its cash agree.",
    ),
    (
        "changes of lots",
        "Every change of a lot begins where another one has ended.",
    ),
    (
        "trades of lots",
        "Every lot has the account, security, price and time of the trade that opened it.",
    ),
    (
        "trades of brokers",
        "Brokers' trade counts grew by the completed trades.",
    ),
    (
        "commissions of brokers",
        "Brokers' commissions grew by those of their trades.",
    ),
    (
        "balances of accounts",
        "Account balances changed by the cash transactions.",
    ),
    ("states", "Every trade has a valid status."),
];

/// The rule of a check by its name.
pub(super) fn rule_of(name: &str) -> &str {
    let check = CONSISTENCY_CHECKS.iter().find(|check| check.0 == name);
    check.map_or(name, |check| check.1)
}

#[cfg(test)]
mod tests {
    use super::super::made_by_queries;
    use super::*;

    #[test]
    fn every_query_has_its_rule() {
        for check in made_by_queries() {
            let mut named = CONSISTENCY_CHECKS
                .iter()
                .filter(|(name, _)| *name == check.name);
            assert!(named.next().is_some(), "{}", check.name);
        }
    }
}
