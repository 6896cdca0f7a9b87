//! The invariants that the simulated brokerage keeps on storage whose every request takes the same time.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use array::VolumeId;
use array::bridge::{ArrayHost, IdealVolumes, IdealVolumesSettings, VolumeFiles};
use brokerage::profile::{BrokerageProfile, MeasuredIo};
use brokerage::run_plan::run_plan;
use brokerage::simulation::{Places, run_on_virtual_clock};
use config::{ByteSize, TimeSpan};
use measure::result::{ErrorKind, OperationResult, RunResult, Verdict};
use runtime::Runtime;
use workload::controller::NoListener;
use workload::progress::StopRequest;

const MILLISECOND_NS: u64 = 1_000_000;

fn profile() -> BrokerageProfile {
    let mut profile = BrokerageProfile::default();
    let brokerage = &mut profile.brokerage;
    brokerage.customers = Some(1_000);
    brokerage.trade_days = 3;
    brokerage.data_files = 3;
    brokerage.users = 12;
    brokerage.think_time = TimeSpan::millis(20);
    brokerage.server.ticker_per_second = 100.0;
    brokerage.market.price_period = TimeSpan::seconds(10);
    brokerage.database.memory = ByteSize::mib(8);
    brokerage.database.log_file_size = ByteSize::mib(1);
    brokerage.database.checkpoint_depth = ByteSize::mib(4);
    profile.run.duration = TimeSpan::seconds(40);
    profile.run.sample_interval = Some(TimeSpan::seconds(4));
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(15));
    profile.run.steady_state.required = false;
    profile
}

fn run(profile: &BrokerageProfile, read_ns: u64) -> RunResult {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let volumes = IdealVolumes::<()>::new(IdealVolumesSettings {
        capacities_sectors: vec![1 << 22; 4],
        read_ns,
        write_ns: MILLISECOND_NS / 2,
    });
    let storage = ArrayHost::new(&handle, volumes);
    let files = |volume| VolumeFiles::new(storage.volume(VolumeId(volume)).unwrap());
    let places = Places {
        data: (0..profile.brokerage.data_files as u16)
            .map(files)
            .collect(),
        log: files(3),
    };
    let (profile, plan) = (profile.clone(), run_plan(profile));
    let (base, stop) = (RunResult::new(), StopRequest::new());
    runtime.block_on(async move {
        run_on_virtual_clock(
            handle,
            profile,
            plan,
            base,
            stop,
            workload::controller::shared(NoListener),
            places,
        )
        .await
    })
}

/// Transactions that users begin; the others are begun by the exchange or by time.
const BY_USERS: [&str; 9] = [
    "trade-status",
    "market-watch",
    "security-detail",
    "customer-position",
    "trade-order",
    "trade-lookup",
    "broker-volume",
    "trade-update",
    "trade-order-rolled-back",
];

fn operation<'a>(result: &'a RunResult, name: &str) -> &'a OperationResult {
    let mut all = result.operations.iter();
    all.find(|operation| operation.name == name).unwrap()
}

fn by_users(result: &RunResult) -> impl Iterator<Item = &OperationResult> {
    BY_USERS.iter().map(|name| operation(result, name))
}

fn check(result: &RunResult) {
    assert!(result.errors.is_empty(), "{:?}", result.errors);
    assert!(result.totals.reads.count > 1_000);
}

#[test]
fn users_at_work_and_thinking_are_as_many_as_there_are() {
    let profile = profile();
    let result = run(&profile, 4 * MILLISECOND_NS);
    check(&result);
    let think_ms = profile.brokerage.think_time.as_ms();
    // Little: users = rate x (response + think).
    let users: f64 = by_users(&result)
        .map(|one| {
            let response_ms = one.service_time.map_or(0.0, |times| times.average_ms);
            one.per_second * (response_ms + think_ms) / 1e3
        })
        .sum();
    let wanted = f64::from(profile.brokerage.users);
    assert!(
        (users / wanted - 1.0).abs() < 0.02,
        "{users} of {wanted} users"
    );
}

#[test]
fn the_mix_holds_exactly_and_the_market_follows() {
    let result = run(&profile(), 2 * MILLISECOND_NS);
    check(&result);
    let total: u64 = by_users(&result).map(|one| one.count).sum();
    assert!(total > 5_000, "{total} transactions");
    for (name, share) in profile().brokerage.mix.shares() {
        let mut count = operation(&result, name).count;
        if name == "trade-order" {
            count += operation(&result, "trade-order-rolled-back").count;
        }
        let wanted = total as f64 * share / 89.0;
        // A deck has 1,000 cards; the first and the last of the run count in part, and what was
        // under way at both ends.
        assert!(
            (count as f64 - wanted).abs() < 0.03 * wanted + 30.0,
            "{name}: {count}"
        );
    }
    let count = |name| operation(&result, name).count;
    let (orders, results) = (count("trade-order"), count("trade-result"));
    assert!(
        results.abs_diff(orders) < orders / 10 + 20,
        "{orders} orders, {results} results"
    );
    let feeds = count("market-feed");
    assert!(
        feeds.abs_diff(results / 10) < 3,
        "{feeds} feeds for {results} results"
    );
    let entries = count("feed-entry");
    let of_feeds = (feeds + count("ticker")) * 20;
    assert!(
        entries.abs_diff(of_feeds) < 60,
        "{entries} entries in feeds of {of_feeds}"
    );
    let ticks = count("ticker") as f64 * 20.0 / 40.0;
    assert!((ticks - 100.0).abs() < 2.0, "{ticks} prices per second");
    let (transactions, total) = (
        result.throughput.operations_per_second,
        total + results + entries,
    );
    assert!(
        (transactions - (total + 1) as f64 / 40.0).abs() < 0.2,
        "{transactions}"
    );
}

#[test]
fn one_seed_is_one_run_and_another_is_another() {
    let mut profile = profile();
    profile.run.duration = TimeSpan::seconds(12);
    let text = |profile: &BrokerageProfile| {
        let result = run(profile, MILLISECOND_NS);
        check(&result);
        serde_json::to_string(&result).unwrap()
    };
    let first = text(&profile);
    assert_eq!(first, text(&profile));
    profile.run.seed = 2;
    assert_ne!(first, text(&profile));
}

#[test]
fn slower_storage_and_less_memory_cost_transactions() {
    let fast = run(&profile(), MILLISECOND_NS / 4);
    let slow = run(&profile(), 8 * MILLISECOND_NS);
    let rate = |result: &RunResult| result.throughput.operations_per_second;
    assert!(
        rate(&fast) > 1.3 * rate(&slow),
        "{} {}",
        rate(&fast),
        rate(&slow)
    );
    let mut roomy = profile();
    roomy.brokerage.database.memory = ByteSize::mib(64);
    let roomy = run(&roomy, MILLISECOND_NS / 4);
    let reads = |result: &RunResult| {
        let started: u64 = by_users(result).map(|one| one.count).sum();
        result.totals.reads.count as f64 / started as f64
    };
    assert!(
        reads(&fast) > 1.2 * reads(&roomy),
        "{} {}",
        reads(&fast),
        reads(&roomy)
    );
}

#[test]
fn the_database_grows_by_the_pages_that_its_trees_take() {
    let mut profile = profile();
    profile.brokerage.mix.trade_order_percent = 80.0;
    profile.brokerage.growth_reserve_percent = 50.0;
    let result = run(&profile, MILLISECOND_NS / 4);
    check(&result);
    let (begin, end) = (result.totals.size_begin_bytes, result.totals.size_end_bytes);
    let pages = (end - begin) / 8192;
    let results = operation(&result, "trade-result").count;
    // What a trade adds to the trees that grow at their end is about 450 bytes in all.
    let wanted = results as f64 * 450.0 / 8192.0;
    assert!(
        pages as f64 > 0.5 * wanted && (pages as f64) < 3.0 * wanted,
        "{pages} {wanted}"
    );
}

#[test]
fn a_database_without_room_to_grow_says_so() {
    let mut profile = profile();
    profile.brokerage.mix.trade_order_percent = 80.0;
    profile.brokerage.growth_reserve_percent = 0.1;
    profile.brokerage.users = 200;
    profile.brokerage.think_time = TimeSpan(0);
    profile.run.duration = TimeSpan::seconds(120);
    let result = run(&profile, MILLISECOND_NS / 20);
    let error = &result.errors[0];
    assert_eq!(error.kind, ErrorKind::OutOfSpace, "{error:?}");
}

#[test]
fn users_that_never_wait_for_anything_end_the_prediction() {
    let mut profile = profile();
    let brokerage = &mut profile.brokerage;
    brokerage.think_time = TimeSpan(0);
    brokerage.server.cpu_time_per_page = TimeSpan(0);
    brokerage.database.memory = ByteSize::gib(1);
    brokerage.mix.trade_order_percent = 0.0;
    brokerage.mix.trade_update_percent = 0.0;
    let result = run(&profile, MILLISECOND_NS);
    assert_eq!(result.errors, []);
    assert_eq!(result.verdict, Verdict::Inconclusive);
    let reason = &result.verdict_reason;
    assert!(reason.contains("brokerage.think_time"), "{reason}");
}

/// Reads, writes, bytes of a write, log writes and their bytes for each transaction of the users.
fn io_per_transaction(result: &RunResult) -> [f64; 5] {
    let transactions: u64 = by_users(result).map(|one| one.count).sum();
    let totals = &result.totals;
    let write_bytes = totals.writes.bytes as f64 / totals.writes.count.max(1) as f64;
    let each = |amount: u64| amount as f64 / transactions as f64;
    let log = &totals.log_writes;
    [
        each(totals.reads.count),
        each(totals.writes.count),
        write_bytes,
        each(log.count),
        each(log.bytes),
    ]
}

#[test]
fn a_measured_run_is_made_again_whatever_the_model_would_do() {
    let own = io_per_transaction(&run(&profile(), MILLISECOND_NS));
    let [reads, writes, _, log_writes, log_bytes] = own;
    assert!(reads > 1.0 && writes > 0.2 && log_bytes > 500.0, "{own:?}");
    let cases = [
        // More of everything than the model makes.
        [
            3.0 * reads,
            3.0 * writes,
            24_576.0,
            2.0 * log_writes,
            6.0 * log_bytes,
        ],
        // Less reads and writes. The log cannot be shorter than that of the model.
        [
            0.3 * reads,
            0.2 * writes,
            8_192.0,
            1.2 * log_writes,
            2.0 * log_bytes,
        ],
        [0.0, 0.0, 0.0, 1.5 * log_writes, 3.0 * log_bytes],
    ];
    for measured in cases {
        for (read_ns, memory) in [(MILLISECOND_NS, 8), (8 * MILLISECOND_NS, 256)] {
            let mut profile = profile();
            profile.brokerage.database.memory = ByteSize::mib(memory);
            profile.brokerage.measured_io = MeasuredIo {
                reads_per_transaction: Some(measured[0]),
                writes_per_transaction: Some(measured[1]),
                write_size: ByteSize(measured[2].max(4_096.0) as u64),
                log_writes_per_transaction: Some(measured[3]),
                log_bytes_per_transaction: Some(measured[4]),
            };
            let result = run(&profile, read_ns);
            assert!(result.errors.is_empty(), "{:?}", result.errors);
            let made = io_per_transaction(&result);
            println!("{measured:?}: {made:?}");
            for (made, measured) in made.into_iter().zip(measured) {
                let is_near = (made - measured).abs() <= 0.03 * measured + 0.001;
                assert!(is_near, "{made} instead of {measured}");
            }
        }
    }
}
