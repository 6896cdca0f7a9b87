//! Broker volume: the value of the pending orders of some brokers in one sector. Read-only.

use super::batch::{Batch, ask};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use crate::value::Value;

/// Most brokers per query.
pub const MAX_BROKERS: usize = 40;

/// The brokers and the sector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Names of brokers: 1 to [`MAX_BROKERS`].
    pub brokers: Vec<String>,
    /// Name of the sector.
    pub sector: String,
}

/// The result of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerVolume<'a> {
    /// Brokers with pending orders and their value, the largest first.
    pub volumes: Vec<(&'a str, i64)>,
}

pub(super) static VOLUMES: Statement = Statement {
    name: "broker_volume",
    sql: "SELECT b.name, CAST(SUM(tr.quantity * tr.bid_price_cents) AS @integer@) AS volume
FROM broker b
JOIN trade_request tr ON tr.broker_id = b.id
JOIN security s ON s.symbol = tr.symbol
JOIN company co ON co.id = s.company_id
JOIN industry i ON i.id = co.industry_id
JOIN sector sc ON sc.id = i.sector_id
WHERE b.name IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
 $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37,
 $38, $39, $40)
AND sc.name = $41
GROUP BY b.id, b.name
ORDER BY volume DESC, b.id",
    parameters: &{
        let mut types = [Type::Text(49); MAX_BROKERS + 1];
        types[MAX_BROKERS] = Type::Text(30);
        types
    },
};

/// Runs the transaction.
///
/// # Panics
/// No broker is named, or too many are.
///
/// # Errors
/// Those of the session.
pub async fn run<'a>(
    session: &'a mut dyn Session,
    input: &Input,
) -> Result<BrokerVolume<'a>, DatabaseError> {
    assert!((1..=MAX_BROKERS).contains(&input.brokers.len()));
    // The statement has a fixed number of parameters; the last broker fills the rest.
    let last = &input.brokers[input.brokers.len() - 1];
    let names = input.brokers.iter().chain(std::iter::repeat(last));
    let mut parameters: Vec<Value> = names
        .take(MAX_BROKERS)
        .map(|name| Value::from(name.as_str()))
        .collect();
    parameters.push(Value::from(input.sector.as_str()));
    let mut batch = Batch::new();
    batch.add_all(&VOLUMES, parameters);
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    let volumes = answers
        .of(0)
        .collect(|row| Ok((row.str(0)?, row.integer(1)?)))?;
    Ok(BrokerVolume { volumes })
}
