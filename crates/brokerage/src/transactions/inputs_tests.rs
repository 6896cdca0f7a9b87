//! Inputs have the published distributions.

use super::*;
use crate::transactions::old_trades::TRADES;
use std::collections::BTreeSet;

fn inputs(trade_days: u32) -> Inputs {
    Inputs::new(
        DataSet::new(2_000, trade_days, 3),
        &Orders::default(),
        11,
        0,
    )
}

/// Whether a share of 10,000 is as expected, within five standard deviations.
fn is_share(count: usize, expected: f64) -> bool {
    let deviation = (expected * (1.0 - expected) / 1e4).sqrt();
    (count as f64 / 1e4 - expected).abs() < 5.0 * deviation
}

#[test]
fn orders_are_like_the_published_ones() {
    let mut inputs = inputs(5);
    let orders: Vec<trade_order::Input> = (0..10_000).map(|id| inputs.trade_order(id, 7)).collect();
    let count =
        |of: &dyn Fn(&trade_order::Input) -> bool| orders.iter().filter(|&order| of(order)).count();
    let kind = |kind: TradeKind| count(&|order| order.kind == kind);
    assert!(is_share(kind(TradeKind::MarketBuy), 0.3));
    assert!(is_share(kind(TradeKind::MarketSell), 0.3));
    assert!(is_share(kind(TradeKind::LimitBuy), 0.2));
    assert!(is_share(kind(TradeKind::LimitSell), 0.1));
    assert!(is_share(kind(TradeKind::StopLoss), 0.1));
    assert!(is_share(count(&|order| order.is_margin), 0.08));
    assert!(is_share(count(&|order| order.is_lifo), 0.35));
    assert!(is_share(count(&|order| order.by_company.is_some()), 0.4));
    assert!(is_share(count(&|order| order.executor.is_some()), 0.1));
    assert!(is_share(count(&|order| order.quantity == 800), 0.25));
    assert_eq!(count(&|order| order.rolls_back), 10_000 / 101);
    for order in &orders {
        assert!((2_000..=3_000).contains(&order.limit_cents));
        assert!(inputs.data_set.security_of_symbol(&order.symbol).is_some());
    }
}

#[test]
fn windows_shrink_with_the_trade_days_and_end_with_the_initial_trades() {
    for days in [1, 2, 5, 300] {
        let mut inputs = inputs(days);
        let (opening, first) = (
            inputs.data_set.opening_ms(),
            inputs.data_set.first_trade_ms(),
        );
        let mut earliest = opening;
        for _ in 0..2_000 {
            let window = inputs.window(ACCOUNT_BACK_OFF_MS);
            assert!((first..opening).contains(&window.from_ms), "{days} days");
            assert_eq!(window.until_ms, opening);
            earliest = earliest.min(window.from_ms);
        }
        // They begin anywhere in the initial trades.
        assert!(earliest < first + (opening - first) / 10, "{days} days");
    }
}

#[test]
fn look_ups_ask_for_what_is_there() {
    let mut inputs = inputs(2);
    let built = inputs.data_set.built_trades() as i64;
    let mut kinds = [0; 4];
    for _ in 0..10_000 {
        match inputs.trade_lookup() {
            trade_lookup::Input::Trades(Chosen::ById(ids)) => {
                kinds[0] += 1;
                let different: BTreeSet<i64> = ids.iter().copied().collect();
                assert_eq!(different.len(), TRADES);
                assert!(ids.iter().all(|id| (1..=built).contains(id)));
            }
            trade_lookup::Input::Trades(Chosen::ByAccount(..)) => kinds[1] += 1,
            trade_lookup::Input::Trades(Chosen::BySymbol(..)) => kinds[2] += 1,
            trade_lookup::Input::FirstTrade { .. } => kinds[3] += 1,
        }
    }
    for (count, expected) in kinds.into_iter().zip([0.3, 0.3, 0.3, 0.1]) {
        assert!(is_share(count, expected), "{kinds:?}");
    }
    let (first, last) = (inputs.data_set.first_day(), inputs.data_set.opening_day());
    for _ in 0..2_000 {
        assert!((first..last).contains(&inputs.market_watch().day));
        let detail = inputs.security_detail();
        assert!((first..last).contains(&detail.first_day));
        assert!((5..=20).contains(&detail.days));
    }
}

#[test]
fn brokers_asked_about_are_different_ones() {
    let mut inputs = inputs(1);
    for _ in 0..1_000 {
        let asked = inputs.broker_volume().brokers;
        let different: BTreeSet<&String> = asked.iter().collect();
        // This data set has twenty.
        assert_eq!((asked.len(), different.len()), (20, 20));
    }
    let mut large = Inputs::new(DataSet::new(10_000, 1, 3), &Orders::default(), 11, 0);
    let mut lengths = BTreeSet::new();
    for _ in 0..1_000 {
        let asked = large.broker_volume().brokers;
        let different: BTreeSet<&String> = asked.iter().collect();
        assert_eq!(asked.len(), different.len());
        lengths.insert(asked.len());
    }
    assert_eq!(lengths, (20..=40).collect());
}

#[test]
fn streams_differ_and_repeat() {
    let draw = |stream| {
        let data_set = DataSet::new(2_000, 5, 3);
        let mut inputs = Inputs::new(data_set, &Orders::default(), 11, stream);
        (inputs.trade_order(1, 2), inputs.trade_lookup())
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}
