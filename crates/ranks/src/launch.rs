//! How this process was started: what the launchers of MPI leave in the environment.

/// Who has started several processes of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpirun` of MPICH and its relatives (Intel MPI, MVAPICH), or `srun` with PMI.
    Pmi,
    /// `srun` of Slurm without PMI for this library.
    Slurm,
}

impl Launcher {
    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpirun of Open MPI",
            Self::Pmi => "a launcher with PMI (mpirun of MPICH, Intel MPI or MVAPICH; srun)",
            Self::Slurm => "srun of Slurm",
        }
    }
}

/// What the launcher says of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Who has started it.
    pub launcher: Launcher,
    /// How many processes there are.
    pub size: usize,
    /// Which of them this one is.
    pub rank: usize,
}

/// Launchers with the variables that hold the number of processes, and which this one is.
const VARIABLES: [(Launcher, &str, &str); 3] = [
    (
        Launcher::OpenMpi,
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_RANK",
    ),
    (Launcher::Pmi, "PMI_SIZE", "PMI_RANK"),
    (Launcher::Slurm, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

impl Launch {
    /// The launch of this process; `None` when no launcher has started it.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        VARIABLES.into_iter().find_map(|(launcher, size, rank)| {
            Some(Self {
                launcher,
                size: number(size)?,
                rank: number(rank)?,
            })
        })
    }

    /// What is wrong when the library sees so many ranks; `None` when it is what was launched.
    #[must_use]
    pub fn mismatch(self, seen: usize, library: &str) -> Option<String> {
        (seen != self.size).then(|| {
            format!(
                "{} has started {} processes, and the MPI library of this program ({library}) sees {seen}: \
                 launcher and library do not belong together, so every process believes that it is \
                 alone.",
                self.launcher.name(),
                self.size
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(pairs: &[(&str, &str)]) -> Option<Launch> {
        Launch::of(|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_launcher_is_known_by_its_variables() {
        assert_eq!(launch(&[("HOME", "/root")]), None);
        let open_mpi = launch(&[
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("SLURM_STEP_NUM_TASKS", "1"),
            ("SLURM_PROCID", "0"),
        ]);
        let expected = Launch {
            launcher: Launcher::OpenMpi,
            size: 4,
            rank: 3,
        };
        assert_eq!(open_mpi, Some(expected));
        let mpich = launch(&[("PMI_SIZE", "2"), ("PMI_RANK", "1")]);
        assert_eq!(mpich.map(|one| one.launcher), Some(Launcher::Pmi));
        assert_eq!(launch(&[("PMI_SIZE", "two"), ("PMI_RANK", "1")]), None);
    }

    #[test]
    fn a_library_that_sees_fewer_processes_is_another_one() {
        let launch = Launch {
            launcher: Launcher::Pmi,
            size: 2,
            rank: 0,
        };
        assert_eq!(launch.mismatch(2, "MPICH"), None);
        let text = launch.mismatch(1, "Open MPI 4.1").unwrap();
        assert!(text.contains("2 processes") && text.contains("Open MPI 4.1"));
    }
}
