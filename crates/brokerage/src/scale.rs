//! The scale of a data set: customers and trading days.

/// Customers per load unit, the granularity of a data set's size.
pub const LOAD_UNIT: u64 = 1_000;

/// Customers of the largest data set.
pub const MAX_CUSTOMERS: u64 = 2_000_000;

/// Small data sets have fewer trading days first, but no fewer than these.
pub const MIN_DAYS: u32 = 2;

/// A data set that misses its size by no more than this keeps all its days.
const NEAR_ENOUGH_PERCENT: u64 = 5;

/// Customers and trading days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// A multiple of [`LOAD_UNIT`].
    pub customers: u64,
    /// Trading days of the initial trades.
    pub trade_days: u32,
}

impl Scale {
    /// The largest scale within a size: as many load units as fit with `most_days`, or one more
    /// with fewer days where that is clearly nearer. None when not even one unit with [`MIN_DAYS`]
    /// fits.
    ///
    /// `bytes` returns the size of a data set; it must grow with customers and with days.
    #[must_use]
    pub fn nearest(wanted_bytes: u64, most_days: u32, bytes: impl Fn(Self) -> u64) -> Option<Self> {
        let of = |units: u64, trade_days| Self {
            customers: units * LOAD_UNIT,
            trade_days,
        };
        let fits = |scale| bytes(scale) <= wanted_bytes;
        let most_units = MAX_CUSTOMERS / LOAD_UNIT;
        let units = last(1, most_units, |units| fits(of(units, most_days)));
        let whole = units.map(|units| of(units, most_days));
        let is_near = |scale| bytes(scale) >= wanted_bytes / 100 * (100 - NEAR_ENOUGH_PERCENT);
        if units == Some(most_units) || whole.is_some_and(is_near) {
            return whole;
        }
        let next = units.unwrap_or(0) + 1;
        let days = last(MIN_DAYS.into(), most_days.into(), |days| {
            fits(of(next, days as u32))
        });
        days.map(|days| of(next, days as u32)).or(whole)
    }
}

/// The last number of `from..=to` that is `good`, if all up to some number are (binary search).
fn last(from: u64, to: u64, good: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (from, to + 1);
    while low < high {
        let middle = u64::midpoint(low, high);
        if good(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low > from).then(|| low - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A data set with something that does not grow.
    fn bytes(scale: Scale) -> u64 {
        20_000 + scale.customers * (7 + 40 * u64::from(scale.trade_days))
    }

    proptest! {
        #[test]
        fn the_nearest_data_set_fits_and_a_nearer_one_does_not(
            wanted in 0_u64..40_000_000_000,
            most_days in 1_u32..400,
        ) {
            let Some(scale) = Scale::nearest(wanted, most_days, bytes) else {
                let least = Scale { customers: LOAD_UNIT, trade_days: MIN_DAYS.min(most_days) };
                prop_assert!(bytes(least) > wanted);
                return Ok(());
            };
            prop_assert!(bytes(scale) <= wanted);
            prop_assert!(scale.customers.is_multiple_of(LOAD_UNIT));
            prop_assert!(scale.customers <= MAX_CUSTOMERS && scale.trade_days <= most_days);
            let more = Scale { customers: scale.customers + LOAD_UNIT, ..scale };
            let is_largest = more.customers > MAX_CUSTOMERS;
            prop_assert!(is_largest || bytes(more) > wanted, "{scale:?}");
            let longer = Scale { trade_days: scale.trade_days + 1, ..scale };
            prop_assert!(scale.trade_days == most_days || bytes(longer) > wanted, "{scale:?}");
        }
    }

    #[test]
    fn a_data_set_that_is_near_enough_keeps_its_days() {
        let ten = bytes(Scale {
            customers: 10_000,
            trade_days: 300,
        });
        let nearest = |wanted| Scale::nearest(wanted, 300, bytes).unwrap();
        assert_eq!(
            nearest(ten),
            Scale {
                customers: 10_000,
                trade_days: 300
            }
        );
        assert_eq!(nearest(ten + ten / 25), nearest(ten));
        let between = nearest(ten + ten / 16);
        assert_eq!((between.customers, between.trade_days), (11_000, 289));
    }
}
