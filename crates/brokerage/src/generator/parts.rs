//! The parts of each table, and how they are written.

use super::executed_unit::{ExecutedUnit, ExecutedUnits};
use super::row_writer::RowWriter;
use super::{companies, customers, fixed, news, places, prices, trades};
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::{Class, TableName};
use std::sync::Arc;

/// Large parts per load unit that need its trades executed. At most this many workers are busy with
/// the same unit.
const LARGE_PARTS_OF_A_UNIT: usize = 3;

/// Generates the rows of a data set. Clones share the executed load units.
#[derive(Debug, Clone)]
pub struct Generator {
    data_set: DataSet,
    executed_units: Arc<ExecutedUnits>,
}

/// Where the rows of a table come from.
enum Source {
    /// From the data set alone, and the number of the part.
    DataSet(fn(&DataSet, u32, &mut RowWriter<'_>) -> Result<(), DatabaseError>),
    /// From the executed trades of the load unit.
    ExecutedUnit(fn(&ExecutedUnit, &mut RowWriter<'_>) -> Result<(), DatabaseError>),
}

impl Generator {
    /// A generator for one or two workers.
    #[must_use]
    pub fn new(data_set: DataSet) -> Self {
        Self::for_workers(data_set, 1)
    }

    /// A generator shared by this many workers. The more there are, the more executed units it
    /// keeps: 110 MB each at 300 days.
    #[must_use]
    pub fn for_workers(data_set: DataSet, workers: usize) -> Self {
        let units = workers.div_ceil(LARGE_PARTS_OF_A_UNIT) + 1;
        let executed_units = Arc::new(ExecutedUnits::new(units));
        Self {
            data_set,
            executed_units,
        }
    }

    /// The data set whose rows are generated.
    #[must_use]
    pub fn data_set(&self) -> &DataSet {
        &self.data_set
    }

    /// Number of parts of a table.
    #[must_use]
    pub fn parts(&self, table: TableName) -> u32 {
        match table.table().class {
            Class::Fixed => 1,
            Class::Scaling | Class::Growing => self.data_set.load_units(),
        }
    }

    /// Whether a part of this table needs the trades of its load unit executed. The first worker
    /// that asks for such a part executes them; others wait for it.
    #[must_use]
    pub fn follows_from_trades(table: TableName) -> bool {
        matches!(source(table), Source::ExecutedUnit(_))
    }

    /// Writes a part, counted from 0, of a table.
    ///
    /// # Errors
    /// The sink did not take a row; the part is then incomplete.
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
        let (data_set, writer) = (&self.data_set, &mut RowWriter::new(sink));
        match source(table) {
            Source::DataSet(write) => write(data_set, part, writer),
            Source::ExecutedUnit(write) => {
                let executed = |executed: &ExecutedUnit| write(executed, writer);
                self.executed_units.with(data_set, part, executed)
            }
        }
    }
}

fn source(table: TableName) -> Source {
    use Source::{DataSet, ExecutedUnit};
    match table {
        TableName::ZipCode => DataSet(|_, _, writer| places::zip_codes(writer)),
        TableName::Address => DataSet(places::addresses),
        TableName::StatusType => DataSet(|_, _, writer| fixed::status_types(writer)),
        TableName::TaxRate => DataSet(|data_set, _, writer| fixed::tax_rates(data_set, writer)),
        TableName::Sector => DataSet(|data_set, _, writer| fixed::sectors(data_set, writer)),
        TableName::Industry => DataSet(|data_set, _, writer| fixed::industries(data_set, writer)),
        TableName::Exchange => DataSet(|data_set, _, writer| fixed::exchanges(data_set, writer)),
        TableName::TradeType => DataSet(|_, _, writer| fixed::trade_types(writer)),
        TableName::Charge => DataSet(|data_set, _, writer| fixed::charges(data_set, writer)),
        TableName::CommissionRate => {
            DataSet(|data_set, _, writer| fixed::commission_rates(data_set, writer))
        }
        TableName::Company => DataSet(companies::companies),
        TableName::CompanyCompetitor => DataSet(companies::competitors),
        TableName::Security => DataSet(companies::securities),
        TableName::LastTrade => DataSet(prices::last_trades),
        TableName::DailyMarket => DataSet(prices::daily_market),
        TableName::Financial => DataSet(companies::financials),
        TableName::NewsItem => DataSet(news::items),
        TableName::NewsReference => DataSet(news::references),
        TableName::Customer => DataSet(customers::customers),
        TableName::CustomerTaxRate => DataSet(customers::tax_rates),
        TableName::Broker => ExecutedUnit(trades::brokers),
        TableName::CustomerAccount => ExecutedUnit(trades::accounts),
        TableName::AccountPermission => DataSet(customers::permissions),
        TableName::WatchList => DataSet(customers::watch_lists),
        TableName::WatchItem => DataSet(customers::watch_items),
        TableName::Trade => ExecutedUnit(trades::trades),
        TableName::TradeHistory => DataSet(trades::histories),
        // All initial trades are completed, so no request is pending.
        TableName::TradeRequest => DataSet(|_, _, _| Ok(())),
        TableName::Settlement => ExecutedUnit(trades::settlements),
        TableName::CashTransaction => ExecutedUnit(trades::cash_transactions),
        TableName::HoldingSummary => ExecutedUnit(trades::holding_summaries),
        TableName::Holding => ExecutedUnit(trades::holdings),
        TableName::HoldingHistory => DataSet(trades::holding_histories),
    }
}
