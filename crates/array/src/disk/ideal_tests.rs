//! The textbook station against the textbook.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::Direction;

fn ideal(distribution: ServiceDistribution, service_us: f64, servers: u32) -> DiskModel {
    let description = DiskDescription {
        title: "textbook".into(),
        hard_disk: None,
        solid_state: None,
        cloud_volume: None,
        ideal: Some(IdealDescription {
            capacity_bytes: 1 << 30,
            service_us,
            distribution,
            servers,
            on_board_queue_depth: 1 << 16,
        }),
    };
    DiskModel::new(&description, 7).unwrap()
}

fn read(tag: u32) -> DiskRequest {
    DiskRequest {
        tag,
        direction: Direction::Read,
        first_sector: u64::from(tag % 1000),
        sectors: 8,
    }
}

/// Mean response by Erlang C: S + P_wait S / (c - a).
fn erlang_c_response(service: f64, servers: u32, arrivals_per_service: f64) -> f64 {
    let (servers_f, offered) = (f64::from(servers), arrivals_per_service);
    // Erlang B by recursion, then C from B.
    let blocked = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
    let waits = blocked / (1.0 - offered / servers_f * (1.0 - blocked));
    service + waits * service / (servers_f - offered)
}

/// Poisson arrivals; returns the mean response, ns.
fn open_arrivals(disk: &mut DiskModel, gap_ns: f64, requests: u32, seed: u64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut arrival_ns = 0_f64;
    for tag in 0..requests {
        arrival_ns += -(1.0 - random.random::<f64>()).ln() * gap_ns;
        let now_ns = arrival_ns as u64;
        while let Some(done_ns) = disk.next_completion_ns().filter(|&at| at <= now_ns) {
            disk.complete(done_ns);
        }
        disk.submit(now_ns, read(tag));
        disk.counters().check_invariants().unwrap();
    }
    while let Some(done_ns) = disk.next_completion_ns() {
        disk.complete(done_ns);
    }
    disk.counters().check_invariants().unwrap();
    disk.counters().mean_response_ns()
}

#[test]
fn exponential_servers_meet_erlang_c() {
    for (servers, offered) in [(1, 0.5), (1, 0.8), (2, 1.5), (4, 3.0), (8, 6.0)] {
        let mut disk = ideal(ServiceDistribution::Exponential, 100.0, servers);
        let measured = open_arrivals(&mut disk, 100e3 / offered, 400_000, 11);
        let expected = erlang_c_response(100e3, servers, offered);
        let ratio = measured / expected;
        assert!(
            (ratio - 1.0).abs() < 0.025,
            "{servers} servers, {offered} offered: {measured} against {expected}"
        );
    }
}

#[test]
fn fixed_service_meets_pollaczek_khinchine() {
    let mut disk = ideal(ServiceDistribution::Fixed, 100.0, 1);
    let load = 0.7;
    let measured = open_arrivals(&mut disk, 100e3 / load, 400_000, 5);
    let expected = 100e3 * (1.0 + load / (2.0 * (1.0 - load)));
    assert!((measured / expected - 1.0).abs() < 0.015, "{measured}");
    disk.counters().check_single_server_invariants().unwrap();
}

#[test]
fn requests_are_served_in_the_order_they_came() {
    let mut disk = ideal(ServiceDistribution::Fixed, 10.0, 2);
    for tag in 0..6 {
        disk.submit(0, read(tag));
    }
    let mut order = Vec::new();
    while let Some(done_ns) = disk.next_completion_ns() {
        order.push((disk.complete(done_ns).tag, done_ns));
    }
    let times = [10_000, 10_000, 20_000, 20_000, 30_000, 30_000];
    let expected: Vec<(u32, u64)> = (0..6).zip(times).collect();
    assert_eq!(order, expected);
}

#[test]
fn impossible_stations_are_refused_with_their_keys() {
    let ideal = IdealDescription {
        capacity_bytes: 511,
        service_us: f64::NAN,
        distribution: ServiceDistribution::Fixed,
        servers: 2,
        on_board_queue_depth: 1,
    };
    let description = DiskDescription {
        title: "x".to_owned(),
        hard_disk: None,
        solid_state: None,
        cloud_volume: None,
        ideal: Some(ideal),
    };
    let broken_rules = description.check();
    let paths: Vec<&str> = broken_rules.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "ideal.capacity_bytes",
            "ideal.service_us",
            "ideal.on_board_queue_depth"
        ]
    );
    let error = config::from_toml::<DiskDescription>(&config::to_toml(&description)).unwrap_err();
    assert_eq!(error.diagnostics.len(), 2, "{error}");
    assert!(DiskModel::new(&description, 1).is_err());
}
