use super::*;
use crate::disk::DiskDescription;

const CLASSES: [IoClass; 3] = [IoClass::HostRead, IoClass::Destage, IoClass::Rebuild];

fn station(settings: &DispatchSettings) -> Station<()> {
    let text = "title = 't'\n[ideal]\ncapacity_bytes = 1048576\nservice_us = 1000.0\n\
                distribution = 'fixed'\n";
    let description: DiskDescription = config::from_toml(text).unwrap();
    Station::new(DiskModel::new(&description, 1).unwrap(), settings)
}

/// Puts in requests of these classes at these times, milliseconds; returns their order of
/// completion.
fn order(settings: &DispatchSettings, arrivals: &[(u64, IoClass)]) -> Vec<u32> {
    let mut station = station(settings);
    let mut requests = Slab::new();
    let mut order = Vec::new();
    let mut coming = arrivals.iter().peekable();
    loop {
        let next_ns = station.next_completion_ns();
        let arrival_ns = coming.peek().map(|(at_ms, _)| at_ms * 1_000_000);
        match (next_ns, arrival_ns) {
            (None, None) => break,
            (next_ns, Some(arrival_ns)) if next_ns.is_none_or(|next_ns| arrival_ns <= next_ns) => {
                let id = requests.take();
                let request: &mut StationRequest<()> = &mut requests[id];
                request.class = coming.next().unwrap().1;
                request.sectors = 1;
                station.enqueue(arrival_ns, id, &mut requests);
            }
            (Some(next_ns), _) => {
                let (id, outcome) = station.complete(next_ns, &mut requests);
                assert_eq!(outcome, Outcome::Done);
                order.push(id);
            }
            (None, Some(_)) => unreachable!(),
        }
        station.check_invariants(0, &requests).unwrap();
    }
    order
}

fn one_at_a_time() -> DispatchSettings {
    DispatchSettings {
        queue_limit: 1,
        ..DispatchSettings::default()
    }
}

#[test]
fn what_hosts_wait_for_goes_first_and_the_background_last() {
    let [read, destage, rebuild] = CLASSES;
    let arrivals = [(0, read), (0, rebuild), (0, destage), (1, read), (1, read)];
    assert_eq!(order(&one_at_a_time(), &arrivals), [0, 3, 4, 2, 1]);
    let by_arrival = DispatchSettings {
        foreground_first: false,
        ..one_at_a_time()
    };
    assert_eq!(order(&by_arrival, &arrivals), [0, 2, 3, 4, 1]);
}

#[test]
fn nobody_starves() {
    let [read, destage, rebuild] = CLASSES;
    let mut arrivals = vec![(0, read), (0, destage), (0, rebuild)];
    arrivals.extend((0..60).map(|at_ms| (at_ms, read)));
    let settings = DispatchSettings {
        destage_wait_limit_ms: 10.0,
        background_wait_limit_ms: 20.0,
        ..one_at_a_time()
    };
    let order = order(&settings, &arrivals);
    let position = |id| order.iter().position(|&other| other == id).unwrap();
    // A request takes a millisecond, so the position is the time of completion less one.
    assert!((10..12).contains(&position(1)), "{}", position(1));
    assert!((20..22).contains(&position(2)), "{}", position(2));
}

#[test]
fn the_disk_holds_no_more_than_the_limits() {
    let settings = DispatchSettings {
        queue_limit: 8,
        destage_queue_limit: 3,
        background_queue_limit: 2,
        ..DispatchSettings::default()
    };
    let mut station = station(&settings);
    let mut requests = Slab::new();
    for number in 0..30 {
        let id = requests.take();
        let request: &mut StationRequest<()> = &mut requests[id];
        request.class = CLASSES[2 - number / 10];
        request.sectors = 1;
        station.enqueue(0, id, &mut requests);
        let expected = match number / 10 {
            0 => (number + 1).min(2),
            1 => 2 + (number - 9).min(3),
            _ => 5 + (number - 19).min(3),
        };
        assert_eq!(station.disk().queued(), expected, "after {number}");
    }
}
