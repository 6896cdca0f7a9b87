//! What a calibration has found, as a document.

use proofload::calibration::{Calibrated, Fitted, Part, Quantity};

use crate::document::{Document, Section};
use crate::table::{Cell, Column, Table};

/// The figures that are compared, in the order of the columns.
const QUANTITIES: [Quantity; 3] = [
    Quantity::Throughput,
    Quantity::MeanLatency,
    Quantity::P99Latency,
];

/// The parameters with their bounds, and how far the model is from each test.
#[must_use]
pub fn calibration_document(calibrated: &Calibrated) -> Document {
    let section = |head: &str, paragraph: &str, table| Section {
        head: head.to_owned(),
        paragraphs: vec![paragraph.to_owned()],
        table: Some(table),
        ..Section::default()
    };
    Document {
        title: format!("Calibrated from {}", calibrated.class),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: vec![
            section(
                "Parameters",
                "The best value, and between which values 90 % of those lie that explain the fitted \
                 tests. A parameter that was not identified could be anything that the class allows.",
                parameters(calibrated),
            ),
            section(
                "Mean errors",
                "Of the model with the best values. Tests that were held out took no part in the \
                 search: theirs is the error to expect of other loads of the kind.",
                errors(calibrated),
            ),
            section("Tests", "Each figure that was compared.", tests(calibrated)),
        ],
    }
}

fn parameters(calibrated: &Calibrated) -> Table {
    let mut table = Table::new(vec![
        Column::text("parameter"),
        Column::number("class", ""),
        Column::number("best", ""),
        Column::number("5 %", ""),
        Column::number("95 %", ""),
        Column::text(""),
    ]);
    for fitted in &calibrated.calibration.parameters {
        let Fitted {
            parameter,
            best,
            bounds,
            is_identified,
        } = fitted;
        let name = parameter.name();
        let name = name.rsplit_once('.').map_or(name, |(_, key)| key);
        table.push(vec![
            Cell::new(name),
            Cell::figure(parameter.usual),
            Cell::figure(*best),
            Cell::figure(bounds.0),
            Cell::figure(bounds.1),
            Cell::new(if *is_identified { "" } else { "not identified" }),
        ]);
    }
    table
}

fn errors(calibrated: &Calibrated) -> Table {
    let mut columns = vec![Column::text("tests"), Column::number("count", "")];
    columns.extend(QUANTITIES.map(|quantity| Column::number(words(quantity), "%")));
    let mut table = Table::new(columns);
    for part in [Part::Fitted, Part::HeldOut, Part::NotFitted] {
        let judged = calibrated.calibration.judged.iter();
        let count = judged.filter(|judged| judged.part == part).count();
        let mut row = vec![Cell::new(part.to_string()), Cell::count(count as u64)];
        row.extend(QUANTITIES.map(|quantity| {
            let error = calibrated.calibration.mean_error(part, quantity);
            Cell::figure(error.map(|error| error * 100.0))
        }));
        table.push(row);
    }
    table
}

fn tests(calibrated: &Calibrated) -> Table {
    let mut table = Table::new(vec![
        Column::text("test"),
        Column::text("part"),
        Column::number("job", ""),
        Column::text("figure"),
        Column::number("measured", ""),
        Column::number("modelled", ""),
        Column::number("error", "%"),
    ]);
    for judged in &calibrated.calibration.judged {
        for deviation in &judged.deviations {
            table.push(vec![
                Cell::new(calibrated.probes[judged.probe].probe.name.clone()),
                Cell::new(judged.part.to_string()),
                Cell::count(deviation.job as u64 + 1),
                Cell::new(with_unit(deviation.quantity)),
                Cell::figure(deviation.measured),
                Cell::figure(deviation.modelled),
                Cell::new(format!("{:+.1}", deviation.error() * 100.0)),
            ]);
        }
    }
    table
}

fn words(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Throughput => "throughput",
        Quantity::MeanLatency => "mean latency",
        Quantity::P99Latency => "p99 latency",
    }
}

fn with_unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Throughput => "throughput, IOPS",
        Quantity::MeanLatency => "mean latency, us",
        Quantity::P99Latency => "p99 latency, us",
    }
}
