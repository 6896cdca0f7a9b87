//! What a server does by itself is named as such.

use super::{Load, data_set, smallest};
use crate::common;
use brokerage::database::Database;
use measure::result::{ErrorKind, Verdict};
use std::sync::Arc;
use std::time::Duration;

/// Settings of a role that a run must not depend on.
const UNSUITABLE: &str = "ALTER ROLE ALL SET statement_timeout = '20ms'; \
     ALTER ROLE ALL SET lock_timeout = '1ms'; \
     ALTER ROLE ALL SET search_path = ''";

#[test]
fn sessions_have_settings_of_their_own() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    common::build(&postgres);
    postgres.connect_for_sql().unwrap().ask(UNSUITABLE).unwrap();
    let mut connection = postgres.connect_for_sql().unwrap();
    for (sql, value) in [
        ("SHOW statement_timeout", "0"),
        ("SHOW lock_timeout", "0"),
        ("SHOW search_path", "\"$user\", public"),
    ] {
        let shown = connection.ask(sql).unwrap();
        assert_eq!(shown[0][0].as_deref(), Some(value), "{sql}");
    }
    connection.ask("SELECT pg_sleep(0.1)").unwrap();
    assert!(!postgres.tables().unwrap().is_empty());
}

#[test]
fn keys_of_another_client_make_a_run_inconclusive() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    data_set::build(&postgres, smallest());
    let mut other = postgres.connect_for_sql().unwrap();
    let load = Load::start(Arc::new(postgres));
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    // The ids that the users would take next.
    let taken = other.ask(
        "INSERT INTO trade SELECT last.id + next, t.entered_at, 5, t.trade_type_id, t.is_cash, \
         t.symbol, t.quantity, t.bid_price_cents, t.account_id, t.executor_name, NULL, 0, 0, 0, 0 \
         FROM (SELECT MAX(id) AS id FROM trade GROUP BY id / 4294967296) last, \
         generate_series(1, 2000) next, (SELECT * FROM trade ORDER BY id LIMIT 1) t \
         ON CONFLICT DO NOTHING",
    );
    taken.unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let result = load.end();
    // The run ends early, and names whose keys they are; the rows of the other client are found.
    assert!(!result.errors.is_empty(), "{}", result.verdict_reason);
    assert_eq!(result.errors[0].kind, ErrorKind::ServerSide);
    assert_ne!(result.verdict, Verdict::Pass);
    let work = result.server.as_ref().unwrap().acknowledged.as_ref();
    assert!(work.unwrap().unexpected_orders > 0);
}
