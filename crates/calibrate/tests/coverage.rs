//! Error bars hold what they say: disks with hidden numbers are measured from outside, with the errors of real
//! measurements, and calibrated; then loads and arrays that were no part of it are predicted.
//!
//! `PROOFLOAD_HIDDEN_DISKS` says of how many disks. With more than the usual few the share of figures within
//! their bars is printed for each kind of prediction: `cargo test --release -p calibrate --test all
//! coverage -- --nocapture`.

use array::description::{Description, one_disk_of_file};
use array::disk::{DiskDescription, bundled_disk};
use calibrate::model::{self, ModelOptions};
use calibrate::parameters::{self, Parameter, Target, Writes};
use calibrate::search::SearchSettings;
use calibrate::{Access, Calibration, Calibrator, Figures, Job, Measured, Part, Probe};
use config::Source;
use measure::result::error_bar;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CLASS: &str = "ssd-sata-mlc-256gb";

/// Disks that the usual run of the tests has time for.
const FEW_DISKS: u64 = 2;

/// Standard deviations of the logarithms of measured rates and of p99 latencies.
const RATE_ERROR: f64 = 0.02;
const P99_ERROR: f64 = 0.2;

/// Something that is predicted and was not measured.
struct WhatIf {
    name: &'static str,
    jobs: Vec<Job>,
    /// What is other about the array.
    changes: &'static [&'static str],
}

fn job(access: Access, kib: f64, outstanding: u32) -> Job {
    let bytes = (kib * 1024.0) as u64;
    Job {
        access,
        sizes: bytes..=bytes,
        outstanding,
        limit_bytes_per_s: None,
    }
}

fn probe(jobs: Vec<Job>) -> Probe {
    Probe {
        name: "a probe".to_owned(),
        jobs,
        span_bytes: 1 << 30,
        duration_ns: 20_000_000_000,
    }
}

fn probes() -> Vec<Probe> {
    let read = |kib, outstanding| probe(vec![job(Access::RandomRead, kib, outstanding)]);
    let mut probes = Vec::new();
    for outstanding in [1, 4, 16] {
        probes.extend([0.5, 4.0, 16.0, 64.0].map(|kib| read(kib, outstanding)));
    }
    probes.push(read(4.0, 32));
    probes.push(probe(vec![job(Access::SequentialRead, 256.0, 4)]));
    probes
}

fn what_ifs() -> Vec<WhatIf> {
    let mix = Job {
        limit_bytes_per_s: Some(50e6),
        ..job(Access::SequentialRead, 256.0, 1)
    };
    let striped = &[
        "group.0.disk_count=4",
        "group.0.raid=raid0",
        "group.0.chunk_kib=64",
    ];
    vec![
        WhatIf {
            name: "another size and depth",
            jobs: vec![job(Access::RandomRead, 8.0, 8)],
            changes: &[],
        },
        WhatIf {
            name: "beside a sequential reader",
            jobs: vec![job(Access::RandomRead, 4.0, 8), mix],
            changes: &[],
        },
        WhatIf {
            name: "four disks, RAID 0",
            jobs: vec![job(Access::RandomRead, 4.0, 16)],
            changes: striped,
        },
        WhatIf {
            name: "four disks, RAID 0, large requests",
            jobs: vec![job(Access::RandomRead, 256.0, 4)],
            changes: striped,
        },
    ]
}

fn sources() -> Vec<Source> {
    let bundled = bundled_disk(CLASS).expect("a built-in disk");
    one_disk_of_file(CLASS, bundled.toml)
}

fn described(parameters: &[Parameter], values: &[f64], changes: &[&str]) -> Description {
    let mut sources = sources();
    sources.extend(parameters::assignments(parameters, values));
    sources.extend(changes.iter().map(|change| {
        let (path, value) = change.split_once('=').expect("an assignment");
        Source::value("what if", path, value)
    }));
    Description::load(&sources).expect("a description")
}

fn figures(description: &Description, probe: &Probe, seed: u64) -> Vec<Figures> {
    let options = ModelOptions {
        seed,
        enough_requests: 2_000,
        ..ModelOptions::default()
    };
    model::run(description, probe, options).expect("figures")
}

/// A factor whose logarithm has this standard deviation.
fn error(random: &mut Xoshiro256PlusPlus, deviation: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
    (deviation * (sum - 6.0)).exp()
}

/// What was measured on a disk with these values.
fn measured(
    parameters: &[Parameter],
    hidden: &[f64],
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Measured> {
    let description = described(parameters, hidden, &[]);
    let measure = |probe: Probe| {
        let mut figures = figures(&description, &probe, 99);
        for one in &mut figures {
            let rate = error(random, RATE_ERROR);
            one.iops *= rate;
            one.bytes_per_s *= rate;
            one.mean_us /= rate;
            let p99 = error(random, P99_ERROR);
            one.quantiles_us[2] = one.quantiles_us[2].map(|time| time * p99);
        }
        Measured { probe, figures }
    };
    probes().into_iter().map(measure).collect()
}

/// Measured over modelled, of the rates and p99 latencies of what took no part in the fit.
fn ratios(calibration: &Calibration) -> [Vec<f64>; 2] {
    let judges = calibration
        .judged
        .iter()
        .filter(|judged| judged.part != Part::Fitted);
    let mut ratios = [Vec::new(), Vec::new()];
    for one in judges.flat_map(|judged| &judged.deviations) {
        let is_p99 = one.quantity == calibrate::misfit::Quantity::P99Latency;
        ratios[usize::from(is_p99)].push(one.measured / one.modelled);
    }
    ratios
}

/// Whether the rate and the p99 latency of each what-if lie within their bars, for a hidden disk.
fn within(number: u64, is_long: bool) -> Vec<[bool; 2]> {
    let disk: DiskDescription =
        config::from_toml(bundled_disk(CLASS).expect("a disk").toml).expect("a disk");
    let mut parameters = parameters::of_disk(CLASS, &disk, Writes::None);
    parameters.retain(|parameter| parameter.target != Target::Start);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(number);
    // Somewhere around the class, as a disk of the class is.
    let mut hidden: Vec<f64> = parameters
        .iter()
        .map(|one| {
            let place = one.range.place_of(one.usual) + 0.5 * (random.random::<f64>() - 0.5);
            one.range.at(place.clamp(0.0, 1.0))
        })
        .collect();
    // What is sensed at once is no more than a stripe.
    let place = |key: &str| parameters.iter().position(|one| one.name().ends_with(key));
    if let (Some(sense), Some(stripe)) = (place("sense_bytes"), place("stripe_bytes")) {
        hidden[sense] = hidden[sense].min(hidden[stripe]);
    }
    let measured = measured(&parameters, &hidden, &mut random);
    let steps = if is_long { 30 } else { 10 };
    let calibrator = Calibrator {
        sources: sources(),
        parameters: parameters.clone(),
        probes: &measured,
        requests: if is_long { 1_000 } else { 200 },
        search: SearchSettings {
            population: 24,
            cooling: steps,
            sampling: steps,
            threads: 2,
            seed: number,
        },
    };
    let calibration = calibrator.calibrate(&mut |_| ()).expect("a calibration");
    let [rates, p99] = ratios(&calibration);
    let predicted = |what_if: &WhatIf| {
        let probe = probe(what_if.jobs.clone());
        let truth = figures(&described(&parameters, &hidden, what_if.changes), &probe, 7);
        let sets: Vec<Figures> = calibration
            .ensemble
            .iter()
            .map(|set| figures(&described(&parameters, set, what_if.changes), &probe, 7)[0])
            .collect();
        let holds = |value: fn(&Figures) -> f64, ratios: &[f64]| {
            let (low, high) = error_bar(sets.iter().map(value), ratios).expect("values");
            (low..=high).contains(&value(&truth[0]))
        };
        [
            holds(|one| one.iops, &rates),
            holds(|one| one.p99_us().expect("a p99"), &p99),
        ]
    };
    what_ifs().iter().map(predicted).collect()
}

#[test]
fn error_bars_hold_nine_of_ten_hidden_figures() {
    let asked = std::env::var("PROOFLOAD_HIDDEN_DISKS").ok();
    let disks = asked.map_or(FEW_DISKS, |disks| disks.parse().expect("a number of disks"));
    let is_long = disks > FEW_DISKS;
    let found: Vec<_> = (1..=disks).map(|number| within(number, is_long)).collect();
    for (number, what_if) in what_ifs().iter().enumerate() {
        let share = |figure: usize| {
            let held = found.iter().filter(|disk| disk[number][figure]).count();
            held as f64 / found.len() as f64 * 100.0
        };
        println!(
            "{}: rate {:.0} %, p99 {:.0} %",
            what_if.name,
            share(0),
            share(1)
        );
    }
    let all: Vec<bool> = found.into_iter().flatten().flatten().collect();
    let share = all.iter().filter(|held| **held).count() as f64 / all.len() as f64;
    println!(
        "{:.1} % of {} figures lie within their bars",
        share * 100.0,
        all.len()
    );
    // The share of so few figures is itself uncertain.
    let least = 0.9 - 3.0 * (0.9 * 0.1 / all.len() as f64).sqrt();
    assert!(share >= least, "{share} of {}", all.len());
}
