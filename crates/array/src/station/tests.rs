use super::*;
use crate::disk::DiskDescription;

const CLASSES: [IoClass; 3] = [IoClass::HostRead, IoClass::Destage, IoClass::Rebuild];

fn station(settings: &DispatchSettings) -> Station<()> {
    let text = "title = 't'\n[ideal]\ncapacity_bytes = 1048576\nservice_us = 1000.0\n\
                distribution = 'fixed'\n";
    let description: DiskDescription = config::from_toml(text).unwrap();
    Station::new(DiskModel::new(&description, 1).unwrap(), settings, 12)
}

/// Puts in requests of these classes at these times, milliseconds; returns their order of
/// completion.
fn order(settings: &DispatchSettings, arrivals: &[(u64, IoClass)]) -> Vec<u32> {
    let mut station = station(settings);
    let mut requests = Slab::new();
    let mut order = Vec::new();
    let mut coming = arrivals.iter().peekable();
    let mut others = VecDeque::new();
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
                let (id, outcome) = station.complete(next_ns, &mut requests, &mut others);
                assert_eq!((outcome, others.len()), (Outcome::Done, 0));
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

/// Requests of a rebuild in this order: which of them end together, and how.
fn rebuild(extents: &[(u64, u32, Direction)], bad_sector: u64) -> Vec<Vec<(u32, Outcome)>> {
    let mut station = station(&one_at_a_time());
    station.mark_unreadable(bad_sector, 1);
    let mut requests = Slab::new();
    for &(first_sector, sectors, direction) in extents {
        let id = requests.take();
        let request: &mut StationRequest<()> = &mut requests[id];
        request.class = IoClass::Rebuild;
        (request.first_sector, request.sectors) = (first_sector, sectors);
        request.direction = direction;
        station.enqueue_only(0, id, &mut requests);
    }
    station.fill_disk(0, &mut requests);
    let mut commands = Vec::new();
    while let Some(now_ns) = station.next_completion_ns() {
        station.check_invariants(0, &requests).unwrap();
        let mut others = VecDeque::new();
        let first = station.complete(now_ns, &mut requests, &mut others);
        commands.push(std::iter::once(first).chain(others).collect());
    }
    station.check_invariants(0, &requests).unwrap();
    commands
}

#[test]
fn one_command_does_what_is_rebuilt_in_a_run() {
    use Direction::{Read, Write};
    let done = |id| (id, Outcome::Done);
    let reads = [(8, 4, Read), (12, 4, Read), (16, 4, Read), (24, 4, Read)];
    let commands = rebuild(&reads, 13);
    let bad = (1, Outcome::MediaError);
    assert_eq!(commands, [vec![done(0), bad, done(2)], vec![done(3)]]);
    // A command is no longer than a unit.
    let long = [(8, 4, Read), (12, 4, Read), (16, 5, Read)];
    assert_eq!(rebuild(&long, 100), [vec![done(0), done(1)], vec![done(2)]]);
    let mixed = [(8, 4, Read), (12, 4, Write), (16, 4, Write)];
    assert_eq!(
        rebuild(&mixed, 100),
        [vec![done(0)], vec![done(1), done(2)]]
    );
}
