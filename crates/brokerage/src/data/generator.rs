//! Which parts there are, and who writes them.

use super::outcome::{Outcome, Outcomes};
use super::pen::Pen;
use super::{companies, customers, fixed, news, places, prices, trades};
use crate::error::DatabaseError;
use crate::house::House;
use crate::row::RowSink;
use crate::schema::{Class, TableName};
use std::sync::Arc;

/// Parts of one unit for which its trades must have been carried out, beside small ones. So many
/// workers at most are busy with the outcome of one unit.
const LARGE_PARTS_OF_AN_OUTCOME: usize = 3;

/// Makes the rows of a new house. Copies share what they know of the trades of units.
#[derive(Debug, Clone)]
pub struct Generator {
    house: House,
    outcomes: Arc<Outcomes>,
}

/// Where the rows of a table come from.
enum Source {
    /// The house alone, and the number of the part.
    House(fn(&House, u32, &mut Pen<'_>) -> Result<(), DatabaseError>),
    /// What the trades of the unit come to.
    Outcome(fn(&Outcome, &mut Pen<'_>) -> Result<(), DatabaseError>),
}

impl Generator {
    /// A generator for a house and a worker or two.
    #[must_use]
    pub fn new(house: House) -> Self {
        Self::for_workers(house, 1)
    }

    /// A generator that so many workers share. The more there are, the more units it must remember:
    /// 110 MB each at 300 days.
    #[must_use]
    pub fn for_workers(house: House, workers: usize) -> Self {
        let units = workers.div_ceil(LARGE_PARTS_OF_AN_OUTCOME) + 1;
        let outcomes = Arc::new(Outcomes::new(units));
        Self { house, outcomes }
    }

    /// The house.
    #[must_use]
    pub fn house(&self) -> &House {
        &self.house
    }

    /// In how many parts a table comes.
    #[must_use]
    pub fn parts(&self, table: TableName) -> u32 {
        match table.table().class {
            Class::Fixed => 1,
            Class::Scaling | Class::Growing => self.house.load_units(),
        }
    }

    /// Whether the trades of a unit must have been carried out before a part of a table can be
    /// written. The first worker that asks for such a part carries them out; others wait for it.
    #[must_use]
    pub fn follows_from_trades(table: TableName) -> bool {
        matches!(source(table), Source::Outcome(_))
    }

    /// Writes a part, counted from 0, of a table.
    ///
    /// # Errors
    /// The sink did not take a row; the part is then written no further.
    ///
    /// # Panics
    /// There is no such part.
    pub fn write(
        &self,
        table: TableName,
        part: u32,
        sink: &mut dyn RowSink,
    ) -> Result<(), DatabaseError> {
        let parts = self.parts(table);
        assert!(part < parts, "part {part} of {parts} of {}", table.name());
        let (house, pen) = (&self.house, &mut Pen::new(sink));
        match source(table) {
            Source::House(write) => write(house, part, pen),
            Source::Outcome(write) => {
                let outcome = |outcome: &Outcome| write(outcome, pen);
                self.outcomes.with(house, part, outcome)
            }
        }
    }
}

fn source(table: TableName) -> Source {
    use Source::{House, Outcome};
    match table {
        TableName::ZipCode => House(|_, _, pen| places::zip_codes(pen)),
        TableName::Address => House(places::addresses),
        TableName::StatusType => House(|_, _, pen| fixed::status_types(pen)),
        TableName::TaxRate => House(|house, _, pen| fixed::tax_rates(house, pen)),
        TableName::Sector => House(|house, _, pen| fixed::sectors(house, pen)),
        TableName::Industry => House(|house, _, pen| fixed::industries(house, pen)),
        TableName::Exchange => House(|house, _, pen| fixed::exchanges(house, pen)),
        TableName::TradeType => House(|_, _, pen| fixed::trade_types(pen)),
        TableName::Charge => House(|house, _, pen| fixed::charges(house, pen)),
        TableName::CommissionRate => House(|house, _, pen| fixed::commission_rates(house, pen)),
        TableName::Company => House(companies::companies),
        TableName::CompanyCompetitor => House(companies::competitors),
        TableName::Security => House(companies::securities),
        TableName::LastTrade => House(prices::last_trades),
        TableName::DailyMarket => House(prices::daily_market),
        TableName::Financial => House(companies::financials),
        TableName::NewsItem => House(news::items),
        TableName::NewsReference => House(news::references),
        TableName::Customer => House(customers::customers),
        TableName::CustomerTaxRate => House(customers::tax_rates),
        TableName::Broker => Outcome(trades::brokers),
        TableName::CustomerAccount => Outcome(trades::accounts),
        TableName::AccountPermission => House(customers::permissions),
        TableName::WatchList => House(customers::watch_lists),
        TableName::WatchItem => House(customers::watch_items),
        TableName::Trade => Outcome(trades::trades),
        TableName::TradeHistory => House(trades::histories),
        // All trades of the initial books are completed, so no order waits.
        TableName::TradeRequest => House(|_, _, _| Ok(())),
        TableName::Settlement => Outcome(trades::settlements),
        TableName::CashTransaction => Outcome(trades::cash_transactions),
        TableName::HoldingSummary => Outcome(trades::holding_summaries),
        TableName::Holding => Outcome(trades::holdings),
        TableName::HoldingHistory => House(trades::holding_histories),
    }
}
