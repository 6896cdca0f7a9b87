//! Positions: lots that trades have opened and later trades close.

use super::orders::Order;
use prefetch_index::prefetch_index;
use std::collections::VecDeque;

/// The remainder of what one trade has bought, or sold short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lot {
    /// The trade that opened it, in its unit.
    pub trade: u32,
    price_cents: i16,
    quantity: i16,
}

impl Lot {
    pub fn price_cents(self) -> i64 {
        i64::from(self.price_cents)
    }

    /// Negative if sold short.
    pub fn quantity(self) -> i64 {
        i64::from(self.quantity)
    }

    /// A new lot. Millions of them are open at once, so they are kept small.
    fn new(order: &Order, quantity: i64) -> Self {
        let small =
            |number: i64| i16::try_from(number).unwrap_or_else(|_| panic!("a lot of {order:?}"));
        Self {
            trade: order.number,
            price_cents: small(order.price_cents),
            quantity: small(quantity),
        }
    }
}

/// A lot before and after a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub holding_trade: u32,
    pub before: i64,
    pub after: i64,
}

/// The lots of each slot of a unit, oldest first. All lots of a slot have the same sign.
#[derive(Debug)]
pub(super) struct Positions {
    lots: Vec<VecDeque<Lot>>,
}

impl Positions {
    pub fn new(slots: usize) -> Self {
        let lots = vec![VecDeque::new(); slots];
        Self { lots }
    }

    /// The lots of a slot, oldest first.
    pub fn lots(&self, slot: u32) -> impl Iterator<Item = Lot> {
        self.lots[slot as usize].iter().copied()
    }

    /// Prefetches what is needed to find the lots of a slot.
    pub fn expect_soon(&self, slot: u32) {
        prefetch_index(&self.lots, slot as usize);
    }

    /// Prefetches the first and the last lot of a slot.
    pub fn expect_next(&self, slot: u32) {
        let (front, back) = self.lots[slot as usize].as_slices();
        prefetch_index(front, 0);
        let last = if back.is_empty() { front } else { back };
        prefetch_index(last, last.len().saturating_sub(1));
    }

    /// Executes an order. It closes lots of the other sign, the last or the first ones first, and
    /// opens one with the rest. Returns the gain on what was closed.
    ///
    /// # Errors
    /// Those of `changed`.
    pub fn execute<E>(
        &mut self,
        order: &Order,
        mut changed: impl FnMut(Change) -> Result<(), E>,
    ) -> Result<i64, E> {
        let lots = &mut self.lots[order.slot as usize];
        let sign = if order.kind.is_sell() { -1 } else { 1 };
        let (mut needed, mut gain_cents) = (order.quantity, 0);
        while needed > 0 {
            let lot = if order.is_lifo {
                lots.back_mut()
            } else {
                lots.front_mut()
            };
            let Some(lot) = lot.filter(|lot| lot.quantity().signum() == -sign) else {
                break;
            };
            let before = lot.quantity();
            let closed = needed.min(before.abs());
            let after = before + sign * closed;
            // Bought and sold at a higher price, or sold short and bought back at a lower one.
            gain_cents -= sign * closed * (order.price_cents - lot.price_cents());
            needed -= closed;
            changed(Change {
                holding_trade: lot.trade,
                before,
                after,
            })?;
            if after != 0 {
                lot.quantity = after as i16; // Less than before.
            } else if order.is_lifo {
                lots.pop_back();
            } else {
                lots.pop_front();
            }
        }
        if needed > 0 {
            let after = sign * needed;
            changed(Change {
                holding_trade: order.number,
                before: 0,
                after,
            })?;
            lots.push_back(Lot::new(order, after));
        }
        Ok(gain_cents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::TradeKind;
    use std::convert::Infallible;

    fn order(
        number: u32,
        kind: TradeKind,
        quantity: i64,
        price_cents: i64,
        is_lifo: bool,
    ) -> Order {
        Order {
            number,
            kind,
            account: 0,
            slot: 0,
            executor: 0,
            is_cash: true,
            is_lifo,
            quantity,
            bid_cents: price_cents,
            price_cents,
            entered_at: 0,
            submitted_at: 0,
            completed_at: i64::from(number),
        }
    }

    fn held(positions: &Positions) -> i64 {
        positions.lots(0).map(Lot::quantity).sum()
    }

    fn carry(positions: &mut Positions, order: &Order) -> (Vec<(u32, i64, i64)>, i64) {
        let mut changes = Vec::new();
        let gain = positions.execute(order, |change| {
            changes.push((change.holding_trade, change.before, change.after));
            Ok::<(), Infallible>(())
        });
        let Ok(gain_cents) = gain;
        (changes, gain_cents)
    }

    #[test]
    fn lots_close_first_or_last_first_and_turn_short() {
        use TradeKind::{LimitBuy, MarketBuy, MarketSell, StopLoss};
        let mut all = Positions::new(1);
        let bought = carry(&mut all, &order(1, MarketBuy, 100, 2_000, false));
        assert_eq!(bought, (vec![(1, 0, 100)], 0));
        carry(&mut all, &order(2, LimitBuy, 200, 2_100, false));
        // LIFO: half of the last lot is sold.
        let sold = carry(&mut all, &order(3, MarketSell, 100, 2_150, true));
        assert_eq!(sold, (vec![(2, 200, 100)], 5_000));
        // FIFO: both lots are closed, and the rest is sold short.
        let sold = carry(&mut all, &order(4, StopLoss, 400, 2_050, false));
        let changes = vec![(1, 100, 0), (2, 100, 0), (4, 0, -200)];
        assert_eq!(sold, (changes, 5_000 - 5_000));
        assert_eq!(held(&all), -200);
        // Bought back at a lower price: a gain; the rest opens a lot.
        let bought = carry(&mut all, &order(5, MarketBuy, 800, 2_000, true));
        assert_eq!(bought, (vec![(4, -200, 0), (5, 0, 600)], 10_000));
        let lots: Vec<u32> = all.lots(0).map(|lot| lot.trade).collect();
        assert_eq!((lots, held(&all)), (vec![5], 600));
    }
}
