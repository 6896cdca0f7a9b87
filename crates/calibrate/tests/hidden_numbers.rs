//! A model whose numbers are hidden is measured from outside, and found again.

use array::description::{Description, one_disk_of_file};
use array::disk::{DiskDescription, bundled_disk};
use calibrate::misfit::Quantity;
use calibrate::model::{self, ModelOptions};
use calibrate::parameters::Writes;
use calibrate::search::SearchSettings;
use calibrate::{Access, Calibrator, Job, Measured, Part, Probe, parameters};
use config::Source;

const CLASS: &str = "ssd-sata-mlc-256gb";

fn probe(access: Access, kib: f64, outstanding: u32) -> Probe {
    let bytes = (kib * 1024.0) as u64;
    Probe {
        name: format!("{access:?} of {kib} KiB, {outstanding} outstanding"),
        jobs: vec![Job {
            access,
            sizes: bytes..=bytes,
            outstanding,
            limit_bytes_per_s: None,
        }],
        span_bytes: 1 << 30,
        duration_ns: 20_000_000_000,
    }
}

fn probes() -> Vec<Probe> {
    let mut probes = Vec::new();
    for outstanding in [1, 4, 16] {
        for kib in [0.5, 4.0, 16.0, 64.0] {
            probes.push(probe(Access::RandomRead, kib, outstanding));
        }
    }
    probes.push(probe(Access::RandomRead, 4.0, 32));
    probes
}

/// What a disk of the class with these numbers does.
fn measured(hidden: &[(&str, f64)]) -> Vec<Measured> {
    let bundled = bundled_disk(CLASS).expect("a built-in disk");
    let mut sources = one_disk_of_file(CLASS, bundled.toml);
    for (key, value) in hidden {
        let path = format!("disks.{CLASS}.solid_state.{key}");
        sources.push(Source::value("hidden", &path, &value.to_string()));
    }
    let description = Description::load(&sources).expect("a description");
    let options = ModelOptions {
        seed: 99,
        ..ModelOptions::default()
    };
    let run = |probe: Probe| Measured {
        figures: model::run(&description, &probe, options).expect("figures"),
        probe,
    };
    probes().into_iter().map(run).collect()
}

#[test]
fn hidden_numbers_are_found_again() {
    let hidden = [
        ("page_read_us", 110.0),
        ("command_latency_us", 9.0),
        ("random_read_4k_iops", 64_000.0),
        ("interface_mb_per_s", 430.0),
        ("sequential_write_mb_per_s", 400.0),
    ];
    let measured = measured(&hidden);
    let bundled = bundled_disk(CLASS).expect("a built-in disk");
    let disk: DiskDescription = config::from_toml(bundled.toml).expect("a disk");
    let calibrator = Calibrator {
        sources: one_disk_of_file(CLASS, bundled.toml),
        parameters: parameters::of_disk(CLASS, &disk, Writes::None),
        probes: &measured,
        requests: 300,
        search: SearchSettings {
            population: 24,
            cooling: 15,
            sampling: 10,
            threads: 2,
            seed: 5,
        },
    };
    let mut steps = 0;
    let calibration = calibrator.calibrate(&mut |progress| {
        steps += 1;
        assert_eq!((progress.done, progress.steps), (steps, 25));
    });
    let calibration = calibration.unwrap_or_else(|error| panic!("{error}"));
    for part in [Part::Fitted, Part::HeldOut] {
        let error = calibration.mean_error(part, Quantity::Throughput);
        let error = error.expect("such probes");
        assert!(error < 0.06, "{part}: {error}");
    }
    for (key, hidden) in &hidden[..4] {
        let fitted = calibration.parameters.iter();
        let mut fitted = fitted.filter(|one| one.parameter.name().ends_with(key));
        let fitted = fitted.next().expect("the parameter");
        let ratio = fitted.best / hidden;
        // The two parts of the latency of a read are seen only together.
        if *key != "command_latency_us" {
            assert!(
                (0.7..1.4).contains(&ratio),
                "{key}: {} of {hidden}",
                fitted.best
            );
        }
    }
    assert_eq!(calibration.ensemble.len(), 50);
}
