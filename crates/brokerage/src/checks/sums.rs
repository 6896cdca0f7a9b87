//! Counters and balances: a run must have added to them exactly what its trades add up to.

use super::{Violation, rows};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::Session;
use crate::statement::Statement;
use crate::transactions::clean_up;
use std::collections::BTreeMap;

/// Rows fetched per query.
const AT_ONCE: usize = 10_000;

static BROKERS: Statement = Statement {
    name: "check_brokers",
    sql: "SELECT id, CAST(trade_count AS @integer@), commission_cents FROM broker
WHERE id > $1 ORDER BY id LIMIT 10000",
    parameters: &[Type::Big],
};

static BALANCES: Statement = Statement {
    name: "check_balances",
    sql: "SELECT id, balance_cents FROM customer_account
WHERE id > $1 ORDER BY id LIMIT 10000",
    parameters: &[Type::Big],
};

static BROKERED: Statement = Statement {
    name: "check_brokered",
    sql: "SELECT ca.broker_id, COUNT(*), CAST(SUM(t.commission_cents) AS @integer@)
FROM trade t
JOIN customer_account ca ON ca.id = t.account_id
WHERE t.id > $1 AND t.status_id = 1
GROUP BY ca.broker_id
ORDER BY ca.broker_id",
    parameters: &[Type::Big],
};

static PAID: Statement = Statement {
    name: "check_paid",
    sql: "SELECT t.account_id, CAST(SUM(ct.amount_cents) AS @integer@)
FROM cash_transaction ct
JOIN trade t ON t.id = ct.trade_id
WHERE ct.trade_id > $1
GROUP BY t.account_id
ORDER BY t.account_id",
    parameters: &[Type::Big],
};

pub(super) fn statements() -> [&'static Statement; 4] {
    [&BROKERS, &BALANCES, &BROKERED, &PAID]
}

/// Counters of brokers and balances of accounts before a run: 16 bytes for each account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    last_trade: i64,
    /// Id, trades and commission in cents of each.
    brokers: Vec<(i64, i64, i64)>,
    /// Id and cents of each.
    balances: Vec<(i64, i64)>,
}

impl Baseline {
    /// Reads them. Orders that an earlier run left open must have been cancelled before, by
    /// [`clean_up`]; nothing may write meanwhile.
    ///
    /// # Errors
    /// Those of the session.
    pub fn note(session: &mut dyn Session) -> Result<Self, DatabaseError> {
        Ok(Self {
            last_trade: clean_up::last_trade(session)?,
            brokers: brokers(session)?,
            balances: balances(session)?,
        })
    }

    /// The state before the first trade: accounts are opened empty, and brokers begin without
    /// trades. So all rows are examined, and counters and balances must be the sums of all trades.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            last_trade: 0,
            brokers: Vec::new(),
            balances: Vec::new(),
        }
    }

    /// The highest trade id before the run; trades of the run have higher ones.
    #[must_use]
    pub fn last_trade(&self) -> i64 {
        self.last_trade
    }

    /// Compares each counter's change with the sum over the run's trades.
    pub(super) fn compare(
        &self,
        session: &mut dyn Session,
    ) -> Result<Vec<Violation>, DatabaseError> {
        let brokered = rows(session, &BROKERED, self.last_trade)?;
        let brokered = brokered
            .of(0)
            .collect(|row| Ok((row.integer(0)?, (row.integer(1)?, row.integer(2)?))))?;
        let paid = rows(session, &PAID, self.last_trade)?;
        let paid = paid
            .of(0)
            .collect(|row| Ok((row.integer(0)?, row.integer(1)?)))?;
        let (brokers, balances) = (brokers(session)?, balances(session)?);
        let more = match self.last_trade {
            0 => "",
            _ => " more than before",
        };
        let trades = Counter {
            more,
            name: "trades of brokers",
            message: |count, id, found, more, expected| {
                format!(
                    "{count} brokers have a wrong trade count, such as broker {id}: {found}{more}, \
                     and {expected} were completed."
                )
            },
            before: self.brokers.iter().map(|one| (one.0, one.1)).collect(),
            after: brokers.iter().map(|one| (one.0, one.1)).collect(),
            added: brokered
                .iter()
                .map(|&(id, (trades, _))| (id, trades))
                .collect(),
        };
        let commission = Counter {
            more,
            name: "commissions of brokers",
            message: |count, id, found, more, expected| {
                format!(
                    "{count} brokers have wrong commissions, such as broker {id}: {found} \
                     cents{more}, and trades of {expected}."
                )
            },
            before: self.brokers.iter().map(|one| (one.0, one.2)).collect(),
            after: brokers.iter().map(|one| (one.0, one.2)).collect(),
            added: brokered
                .iter()
                .map(|&(id, (_, cents))| (id, cents))
                .collect(),
        };
        let passed = Counter {
            more,
            name: "balances of accounts",
            message: |count, id, found, more, expected| {
                format!(
                    "{count} accounts have a wrong balance, such as account {id}: {found} \
                     cents{more}, and cash transactions of {expected}."
                )
            },
            before: self.balances.iter().copied().collect(),
            after: balances.into_iter().collect(),
            added: paid.into_iter().collect(),
        };
        let all = [trades.compare(), commission.compare(), passed.compare()];
        Ok(all.into_iter().flatten().collect())
    }
}

/// A counter per broker or per account, by id.
struct Counter {
    name: &'static str,
    /// Says that values are differences, if they are.
    more: &'static str,
    /// Formats a violation: how many, whose, what was added, `more`, what should have been.
    message: fn(u64, i64, i64, &str, i64) -> String,
    before: BTreeMap<i64, i64>,
    after: BTreeMap<i64, i64>,
    added: BTreeMap<i64, i64>,
}

impl Counter {
    fn compare(&self) -> Option<Violation> {
        // A row that is missing before or after counts as 0.
        let of = |map: &BTreeMap<i64, i64>, id| map.get(&id).copied().unwrap_or(0);
        let (mut count, mut example) = (0, None);
        let mut ids: Vec<i64> = self
            .before
            .keys()
            .chain(self.after.keys())
            .copied()
            .collect();
        ids.extend(self.added.keys());
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let found = of(&self.after, id) - of(&self.before, id);
            let expected = of(&self.added, id);
            if found != expected {
                count += 1;
                example = example.or(Some((id, found, expected)));
            }
        }
        let (id, found, expected) = example?;
        Some(Violation {
            check: self.name,
            count,
            message: (self.message)(count, id, found, self.more, expected),
        })
    }
}

fn brokers(session: &mut dyn Session) -> Result<Vec<(i64, i64, i64)>, DatabaseError> {
    let mut all: Vec<(i64, i64, i64)> = Vec::new();
    loop {
        let after = all.last().map_or(i64::MIN, |last| last.0);
        let answers = rows(session, &BROKERS, after)?;
        let some = answers
            .of(0)
            .collect(|row| Ok((row.integer(0)?, row.integer(1)?, row.integer(2)?)))?;
        let is_last = some.len() < AT_ONCE;
        all.extend(some);
        if is_last {
            return Ok(all);
        }
    }
}

fn balances(session: &mut dyn Session) -> Result<Vec<(i64, i64)>, DatabaseError> {
    let mut all: Vec<(i64, i64)> = Vec::new();
    loop {
        let after = all.last().map_or(i64::MIN, |last| last.0);
        let answers = rows(session, &BALANCES, after)?;
        let some = answers
            .of(0)
            .collect(|row| Ok((row.integer(0)?, row.integer(1)?)))?;
        let is_last = some.len() < AT_ONCE;
        all.extend(some);
        if is_last {
            return Ok(all);
        }
    }
}
