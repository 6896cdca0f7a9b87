//! A closed loop over textbook disks against exact mean value analysis.
//!
//! With exponential service, first come first served, and every request a single disk request to
//! a disk drawn at random, the back end is a closed network of product form: a customer that comes
//! to a station finds what a population of one less leaves there on average.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::common::ideal_backend;
use array::Direction;
use array::group::{Backend, GroupId, GroupRequest, Groups, IoClass};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Requests per second and mean response, ns, of `population` customers without think time. A
/// customer visits one of the stations per request, station k with probability `visits[k]`.
fn mean_value_analysis(visits: &[f64], service_ns: f64, population: u32) -> (f64, f64) {
    let mut queues = vec![0.0; visits.len()];
    let (mut rate, mut response) = (0.0, 0.0);
    for customers in 1..=population {
        let responses: Vec<f64> = queues
            .iter()
            .map(|queue| service_ns * (1.0 + queue))
            .collect();
        response = visits.iter().zip(&responses).map(|(v, r)| v * r).sum();
        rate = f64::from(customers) / response;
        for ((queue, visits), response) in queues.iter_mut().zip(visits).zip(&responses) {
            *queue = rate * visits * response;
        }
    }
    (rate * 1e9, response)
}

/// The same from a simulated closed loop of reads over a group.
fn simulate(layout: &str, population: u32, hot_share: f64, seed: u64) -> (f64, f64) {
    let mut backend: Backend<()> = ideal_backend(layout, 1 << 16, 1, seed);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let capacity = backend.group(GroupId(0)).capacity_sectors;
    let disk_sectors = capacity / backend.stations().len() as u64;
    let mut next = |id| {
        let hot = random.random_bool(hot_share);
        let span = if hot { disk_sectors } else { capacity };
        GroupRequest {
            owner: id,
            group: GroupId(0),
            direction: Direction::Read,
            first_sector: random.random_range(0..span),
            sectors: 1,
            class: IoClass::HostRead,
            payload: (),
        }
    };
    for id in 0..population {
        backend.submit(0, next(id));
    }
    let (mut done, mut response_ns, mut now_ns) = (0u64, 0u64, 0);
    let requests = 1_500_000;
    while done < requests {
        now_ns = backend.next_event_ns().unwrap();
        backend.advance_one(now_ns);
        while let Some(completion) = backend.pop_done() {
            done += 1;
            response_ns += now_ns - completion.submitted_ns;
            backend.submit(now_ns, next(completion.owner));
        }
    }
    backend.check_invariants().unwrap();
    let rate = done as f64 / (now_ns as f64 / 1e9);
    (rate, response_ns as f64 / done as f64)
}

fn assert_near(simulated: f64, exact: f64, what: &str) {
    let error = (simulated / exact - 1.0).abs();
    assert!(error < 0.01, "{what}: simulated {simulated}, exact {exact}");
}

#[test]
fn closed_loops_meet_mean_value_analysis() {
    let disk_group = |level: &str, disks: u16, extra: &str| {
        format!(
            "[dispatch]\nqueue_limit = 65536\n[[disk_group]]\nname='g'\ndisk='d'\n\
             disks={disks}\nlevel='{level}'\n{extra}\n"
        )
    };
    let service_ns = 100_000.0;
    for (layout, disks, population) in [
        (disk_group("raid0", 4, "chunk_kib = 4"), 4, 6),
        (disk_group("raid6", 10, "chunk_kib = 4"), 10, 40),
    ] {
        let visits = vec![1.0 / f64::from(disks); disks as usize];
        let exact = mean_value_analysis(&visits, service_ns, population);
        let simulated = simulate(&layout, population, 0.0, 11);
        assert_near(simulated.0, exact.0, "requests per second");
        assert_near(simulated.1, exact.1, "response");
    }
    // A hot disk: the first of a linear group gets a third of the requests more.
    let hot_share = 0.3;
    let mut visits = vec![(1.0 - hot_share) / 5.0; 5];
    visits[0] += hot_share;
    let exact = mean_value_analysis(&visits, service_ns, 12);
    let simulated = simulate(&disk_group("linear", 5, ""), 12, hot_share, 12);
    assert_near(simulated.0, exact.0, "requests per second");
    assert_near(simulated.1, exact.1, "response");
}
