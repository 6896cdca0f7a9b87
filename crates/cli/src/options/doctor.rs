//! The options of `doctor`.

use std::path::PathBuf;

use clap::Args;

/// Options of `doctor`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:
  mpirun -n 4 --hostfile hosts proofload doctor --mpi
  mpirun -n 4 --hostfile hosts proofload doctor --mpi --on '/mnt/{host}' --profile mine.toml

Exit status:
    0  nothing is wrong
    3  a run would fail, or measure something else than was meant")]
pub struct DoctorOptions {
    /// Check how several processes were launched: started by mpirun or srun.
    #[arg(long, required = true)]
    pub mpi: bool,
    /// Targets of the run, with {rank} and {host} in them.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    pub on: Vec<PathBuf>,
    /// Targets of its logs.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    pub log_on: Vec<PathBuf>,
    /// The profile file of the run.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
}
