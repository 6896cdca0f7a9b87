//! A disk as its class describes it beside what fio measured on a real one:
//! `cargo run --release -p calibrate --example blind -- DISK RESULT.json...`, where DISK is a built-in disk or
//! a file.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use array::description::{Description, one_disk, one_disk_of_file};
use calibrate::model::{self, ModelOptions};
use calibrate::{Access, Measured, fio};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let disk = arguments.next().ok_or("name a disk, and results of fio")?;
    let sources = match one_disk(&disk) {
        Some(sources) => sources,
        None => one_disk_of_file(&disk, &fs::read_to_string(&disk)?),
    };
    let description = Description::load(&sources)?;
    println!(
        "| test | job | IOPS, measured | modelled | difference | mean us, measured | modelled |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    let mut errors = Vec::new();
    for path in arguments {
        let stem = Path::new(&path).file_stem().unwrap_or_default();
        for measured in fio::read(&stem.to_string_lossy(), &fs::read_to_string(&path)?)? {
            errors.extend(row(&description, &measured)?);
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    println!(
        "\nMean error of {} tests of random reads alone: {:.1} %",
        errors.len(),
        mean * 100.0
    );
    Ok(())
}

/// Prints the jobs of a test; its error if it is one of random reads alone.
fn row(description: &Description, measured: &Measured) -> Result<Option<f64>, Box<dyn Error>> {
    let modelled = model::run(description, &measured.probe, ModelOptions::default())?;
    let jobs = measured
        .probe
        .jobs
        .iter()
        .zip(&measured.figures)
        .zip(&modelled);
    for ((job, real), model) in jobs {
        println!(
            "| {} | {:?} {}..{} | {:.0} | {:.0} | {:+.1} % | {:.0} | {:.0} |",
            measured.probe.name,
            job.access,
            job.sizes.start(),
            job.sizes.end(),
            real.iops,
            model.iops,
            (model.iops / real.iops - 1.0) * 100.0,
            real.mean_us,
            model.mean_us,
        );
    }
    Ok(
        match (
            measured.probe.jobs.as_slice(),
            measured.figures.first(),
            modelled.first(),
        ) {
            ([job], Some(real), Some(model)) if job.access == Access::RandomRead => {
                Some((model.iops / real.iops - 1.0).abs())
            }
            _ => None,
        },
    )
}
