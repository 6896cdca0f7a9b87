//! What `proofload doctor --mpi` has found, as a document.

use measure::metric::Unit;
use proofload::ranks::{LaunchFinding, LaunchReport, Severity};

use crate::document::{Document, Section};
use crate::table::{Cell, Column, Table};

/// How the program is launched.
const LAUNCHES: [&str; 3] = [
    "Open MPI: `mpirun -n 4 --hostfile hosts --map-by ppr:1:node --bind-to none proofload run ...`",
    "MPICH: `mpirun -n 4 -f hosts -ppn 1 -bind-to none proofload run ...`",
    "Slurm: `srun -n 4 --ntasks-per-node=1 --cpu-bind=none --mpi=pmix proofload run ...` (MPICH: --mpi=pmi2)",
];

/// All ranks and what is wrong with them.
#[must_use]
pub fn launch_document(report: &LaunchReport) -> Document {
    let faults = report
        .findings
        .iter()
        .filter(|one| one.severity < Severity::Note)
        .count();
    let title = match faults {
        0 => "The launch is right".to_owned(),
        1 => "The launch has a fault".to_owned(),
        faults => format!("The launch has {faults} faults"),
    };
    let mut sections = vec![Section {
        head: "Ranks".to_owned(),
        table: Some(ranks(report)),
        ..Section::default()
    }];
    if !report.findings.is_empty() {
        let finding = |one: &LaunchFinding| {
            let word = match one.severity {
                Severity::Note => "note",
                Severity::Blocking | Severity::Fault => "FAULT",
            };
            format!("{word}: {} {}", one.text, one.remedy)
        };
        sections.push(Section {
            head: "Findings".to_owned(),
            paragraphs: report.findings.iter().map(finding).collect(),
            ..Section::default()
        });
    }
    sections.push(how_to_launch());
    Document {
        title,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections,
    }
}

/// How several processes are started, where there is only one.
#[must_use]
pub fn not_launched_document() -> Document {
    Document {
        title: "This process was not started as one of several".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: vec![how_to_launch()],
    }
}

fn how_to_launch() -> Section {
    Section {
        head: "How to launch".to_owned(),
        paragraphs: LAUNCHES.map(str::to_owned).to_vec(),
        ..Section::default()
    }
}

fn ranks(report: &LaunchReport) -> Table {
    let mut table = Table::new(vec![
        Column::number("rank", ""),
        Column::text("host"),
        Column::number("of", ""),
        Column::number("CPUs", ""),
        Column::of_unit("memory", Unit::Bytes),
        Column::number("clock", "ms"),
        Column::number("\u{b1}", "ms"),
        Column::text("targets"),
        Column::text("MPI"),
    ]);
    for (rank, one) in report.ranks.iter().enumerate() {
        let cpus = match one.usable_cpus == one.cpus {
            true => one.cpus.to_string(),
            false => format!("{} of {}", one.usable_cpus, one.cpus),
        };
        let targets: Vec<&str> = one
            .targets
            .iter()
            .map(|target| target.path.as_str())
            .collect();
        table.push(vec![
            Cell::count(rank as u64),
            Cell::new(one.host.clone()),
            Cell::count(one.launched as u64),
            Cell::new(cpus),
            Cell::of(one.memory_bytes as f64, Unit::Bytes),
            Cell::new(format!("{:.3}", one.clock_offset_ms)),
            Cell::new(format!("{:.3}", one.clock_uncertainty_ms)),
            Cell::new(targets.join(", ")),
            Cell::new(one.library.clone()),
        ]);
    }
    table
}
