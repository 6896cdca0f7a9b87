//! The examples run, and write nothing.

use std::error::Error;

#[path = "../examples/judge.rs"]
mod judge;
#[path = "../examples/predict.rs"]
mod predict;
#[path = "../examples/sweep.rs"]
mod sweep;

#[test]
fn examples_run_and_write_nothing() -> Result<(), Box<dyn Error>> {
    let scratch = std::env::current_dir()?.join("proofload-runs");
    predict::main()?;
    sweep::main()?;
    judge::main()?;
    assert!(!scratch.exists(), "a prediction in memory wrote results");
    Ok(())
}
