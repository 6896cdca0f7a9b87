//! Which parts there are, and who writes them.

use super::pen::Pen;
use super::{companies, customers, fixed, news, places, prices, trades};
use crate::error::DatabaseError;
use crate::house::House;
use crate::row::RowSink;
use crate::schema::{Class, TableName};

/// Makes the rows of a new house.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    house: House,
}

impl Generator {
    /// A generator for a house.
    #[must_use]
    pub fn new(house: House) -> Self {
        Self { house }
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

    /// Writes a part, counted from 0, of a table.
    ///
    /// Parts of the tables of trades, of accounts and of brokers simulate the trades of their unit
    /// for this.
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
        match table {
            TableName::ZipCode => places::zip_codes(pen),
            TableName::Address => places::addresses(house, part, pen),
            TableName::StatusType => fixed::status_types(pen),
            TableName::TaxRate => fixed::tax_rates(house, pen),
            TableName::Sector => fixed::sectors(house, pen),
            TableName::Industry => fixed::industries(house, pen),
            TableName::Exchange => fixed::exchanges(house, pen),
            TableName::TradeType => fixed::trade_types(pen),
            TableName::Charge => fixed::charges(house, pen),
            TableName::CommissionRate => fixed::commission_rates(house, pen),
            TableName::Company => companies::companies(house, part, pen),
            TableName::CompanyCompetitor => companies::competitors(house, part, pen),
            TableName::Security => companies::securities(house, part, pen),
            TableName::LastTrade => prices::last_trades(house, part, pen),
            TableName::DailyMarket => prices::daily_market(house, part, pen),
            TableName::Financial => companies::financials(house, part, pen),
            TableName::NewsItem => news::items(house, part, pen),
            TableName::NewsReference => news::references(house, part, pen),
            TableName::Customer => customers::customers(house, part, pen),
            TableName::CustomerTaxRate => customers::tax_rates(house, part, pen),
            TableName::Broker => trades::brokers(house, part, pen),
            TableName::CustomerAccount => trades::accounts(house, part, pen),
            TableName::AccountPermission => customers::permissions(house, part, pen),
            TableName::WatchList => customers::watch_lists(house, part, pen),
            TableName::WatchItem => customers::watch_items(house, part, pen),
            TableName::Trade => trades::trades(house, part, pen),
            TableName::TradeHistory => trades::histories(house, part, pen),
            // All trades of the initial books are completed, so no order waits.
            TableName::TradeRequest => Ok(()),
            TableName::Settlement => trades::settlements(house, part, pen),
            TableName::CashTransaction => trades::cash_transactions(house, part, pen),
            TableName::HoldingSummary => trades::holding_summaries(house, part, pen),
            TableName::Holding => trades::holdings(house, part, pen),
            TableName::HoldingHistory => trades::holding_histories(house, part, pen),
        }
    }
}
