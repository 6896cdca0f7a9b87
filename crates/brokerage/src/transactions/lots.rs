//! Which lots of a holding a trade closes, and what it opens.

use super::batch::Answer;
use crate::error::DatabaseError;

/// Shares of one security that an account got by one trade; negative if sold short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lot {
    /// Id of the trade that opened it.
    pub trade: i64,
    /// Remaining shares; negative if sold short.
    pub quantity: i64,
    /// Price per share in cents.
    pub price_cents: i64,
}

/// The lots of a result set: trade, quantity and price of each.
pub(super) fn of_answer(answer: Answer<'_>) -> Result<Vec<Lot>, DatabaseError> {
    answer.collect(|row| {
        Ok(Lot {
            trade: row.integer(0)?,
            quantity: row.integer(1)?,
            price_cents: row.integer(2)?,
        })
    })
}

/// A change of a lot by a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LotChange {
    /// Id of the trade that opened the lot.
    pub holding: i64,
    /// Shares of the lot before the trade.
    pub before: i64,
    /// Shares after; 0 if the lot is closed.
    pub after: i64,
}

/// What a trade does to all lots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closing {
    /// Changes of existing lots, in order.
    pub changes: Vec<LotChange>,
    /// Shares of the lot that the trade opens, with their sign; 0 if it opens none.
    pub opened: i64,
    /// Purchase value of the closed shares.
    pub bought_cents: i64,
    /// Sale value of the closed shares.
    pub sold_cents: i64,
}

impl Closing {
    /// Gain on the closed shares; negative for a loss.
    #[must_use]
    pub fn gain_cents(&self) -> i64 {
        self.sold_cents - self.bought_cents
    }
}

/// Applies a trade to lots, which are ordered from the oldest to the latest. A sale closes long
/// lots, a purchase short ones; the latest first if `is_lifo`. The rest opens a lot.
#[must_use]
pub fn close(
    lots: &[Lot],
    is_sell: bool,
    is_lifo: bool,
    quantity: i64,
    price_cents: i64,
) -> Closing {
    let mut closing = Closing::default();
    let mut needed = quantity;
    let sign = if is_sell { 1 } else { -1 };
    let ordered: Vec<&Lot> = if is_lifo {
        lots.iter().rev().collect()
    } else {
        lots.iter().collect()
    };
    for lot in ordered {
        let available = lot.quantity * sign;
        if needed == 0 {
            break;
        }
        if available <= 0 {
            continue;
        }
        let closed = available.min(needed);
        needed -= closed;
        closing.changes.push(LotChange {
            holding: lot.trade,
            before: lot.quantity,
            after: (available - closed) * sign,
        });
        let (then, now) = (closed * lot.price_cents, closed * price_cents);
        let (bought, sold) = if is_sell { (then, now) } else { (now, then) };
        closing.bought_cents += bought;
        closing.sold_cents += sold;
    }
    closing.opened = -needed * sign;
    closing
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lots(quantities: &[i64]) -> Vec<Lot> {
        let lot = |(number, &quantity)| Lot {
            trade: number as i64,
            quantity,
            price_cents: 2_000 + number as i64,
        };
        quantities.iter().enumerate().map(lot).collect()
    }

    #[test]
    fn a_sale_closes_the_oldest_or_the_latest_lots_and_goes_short() {
        let owned = lots(&[100, 200]);
        let oldest = close(&owned, true, false, 150, 2_500);
        let change = |holding, before, after| LotChange {
            holding,
            before,
            after,
        };
        assert_eq!(oldest.changes, [change(0, 100, 0), change(1, 200, 150)]);
        assert_eq!(oldest.bought_cents, 100 * 2_000 + 50 * 2_001);
        assert_eq!((oldest.sold_cents, oldest.opened), (150 * 2_500, 0));
        let latest = close(&owned, true, true, 150, 2_500);
        assert_eq!(latest.changes, [change(1, 200, 50)]);
        let short = close(&owned, true, true, 400, 2_500);
        assert_eq!((short.changes.len(), short.opened), (2, -100));
    }

    #[test]
    fn a_purchase_pays_back_what_is_owed() {
        let owed = lots(&[-100, -200]);
        let bought = close(&owed, false, false, 250, 1_900);
        assert_eq!(bought.changes[1].after, -50);
        assert_eq!(bought.gain_cents(), 100 * 100 + 150 * 101);
        assert_eq!(bought.opened, 0);
        assert_eq!(close(&owed, false, false, 800, 1_900).opened, 500);
        assert_eq!(close(&[], false, false, 800, 1_900).opened, 800);
    }

    proptest! {
        #[test]
        fn shares_are_neither_lost_nor_made(
            owned in any::<bool>(),
            quantities in prop::collection::vec(1_i64..900, 0..8),
            (is_sell, is_lifo) in (any::<bool>(), any::<bool>()),
            quantity in 1_i64..2_000,
        ) {
            let sign = if owned { 1 } else { -1 };
            let all: Vec<i64> = quantities.iter().map(|quantity| quantity * sign).collect();
            let closing = close(&lots(&all), is_sell, is_lifo, quantity, 2_500);
            let changed: i64 = closing.changes.iter().map(|one| one.after - one.before).sum();
            let traded = if is_sell { -quantity } else { quantity };
            prop_assert_eq!(changed + closing.opened, traded);
            // Only the last lot touched has shares left.
            let last = closing.changes.len().saturating_sub(1);
            prop_assert!(closing.changes.iter().take(last).all(|one| one.after == 0));
        }
    }
}
