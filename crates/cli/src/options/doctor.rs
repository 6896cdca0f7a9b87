//! Options of `doctor`.

use std::path::PathBuf;

/// Options of `doctor`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload doctor /mnt/array
  proofload doctor /mnt/a /mnt/b /dev/sdc
  proofload doctor /mnt/array --json | jq '.places[].findings[]'
  mpirun -n 4 --hostfile hosts proofload doctor --mpi
  mpirun -n 4 --hostfile hosts proofload doctor --mpi --on '/mnt/{host}' --profile mine.toml

Exit status:
    0  every place is suitable for a run, whatever else was found; nothing is wrong with the launch
    3  a place is not suitable, or cannot be examined; a run on several hosts would fail, or measure
       something else than was meant")]
pub struct DoctorOptions {
    /// Directories or block devices to examine, as a run is given them with --on.
    #[arg(required_unless_present = "mpi", conflicts_with = "mpi")]
    #[arg(value_name = "PLACE")]
    pub places: Vec<PathBuf>,
    /// How long to watch the devices for I/O of others, in seconds; 0 does not.
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=3600))]
    #[arg(conflicts_with = "mpi")]
    pub watch: u32,
    /// Print one JSON document instead of text.
    #[arg(long, conflicts_with = "mpi")]
    pub json: bool,
    /// Do not say what is being done.
    #[arg(long, conflicts_with = "mpi")]
    pub quiet: bool,
    /// Check how several processes were launched: started by mpirun or srun.
    #[arg(long)]
    pub mpi: bool,
    /// Targets of the run on several hosts, with {rank} and {host} in them.
    #[arg(
        long,
        value_name = "DIR",
        value_delimiter = ',',
        conflicts_with = "places"
    )]
    pub on: Vec<PathBuf>,
    /// Targets of its logs.
    #[arg(
        long,
        value_name = "DIR",
        value_delimiter = ',',
        conflicts_with = "places"
    )]
    pub log_on: Vec<PathBuf>,
    /// Its profile file.
    #[arg(long, value_name = "FILE", conflicts_with = "places")]
    pub profile: Option<PathBuf>,
}
