//! The built-in classes of disks beside real drives of their kind, which no number of theirs was fitted to.

use array::description::{Description, one_disk};
use calibrate::model::{self, ModelOptions};
use calibrate::{Access, fio};

/// Mean error of the throughput of random reads, class and drive apart from each other.
fn error(class: &str, results: &str) -> f64 {
    let sources = one_disk(class).expect("a built-in disk");
    let description = Description::load(&sources).expect("a description");
    let tests = fio::read("drive", results).expect("results of fio");
    let tests = tests
        .iter()
        .filter(|test| test.probe.jobs[0].access == Access::RandomRead);
    let errors: Vec<f64> = tests
        .map(|test| {
            let modelled = model::run(&description, &test.probe, ModelOptions::default());
            let modelled = modelled.unwrap_or_else(|error| panic!("{error}"))[0];
            (modelled.iops / test.figures[0].iops - 1.0).abs()
        })
        .collect();
    assert_eq!(errors.len(), 16);
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn classes_are_as_near_to_drives_of_their_kind_as_the_document_says() {
    for (class, results, most) in [
        (
            "ssd-sata-mlc-256gb",
            include_str!("drives/samsung-850-pro-256gb.json"),
            0.10,
        ),
        (
            "ssd-sata-tlc-1tb",
            include_str!("drives/intel-540s-1tb.json"),
            0.29,
        ),
        (
            "ssd-nvme-pcie3-256gb",
            include_str!("drives/samsung-950-pro-256gb.json"),
            0.34,
        ),
        (
            "sata-7k2-3tb",
            include_str!("drives/toshiba-p300-3tb.json"),
            0.23,
        ),
    ] {
        let error = error(class, results);
        assert!(error < most, "{class}: {error}");
    }
}
