//! Compiles the C side with the flags of the MPI that is installed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "library")]
    mpi::build();
}

#[cfg(feature = "library")]
mod mpi {
    use std::process::Command;

    /// The variable that names the compiler wrapper of the MPI to build for.
    const WRAPPER: &str = "MPICC";
    const SOURCE: &str = "src/link.c";

    pub fn build() {
        println!("cargo:rerun-if-changed={SOURCE}");
        println!("cargo:rerun-if-env-changed={WRAPPER}");
        let wrapper = std::env::var(WRAPPER).unwrap_or_else(|_| "mpicc".to_owned());
        let shown = flags(&wrapper);
        let mut compiler = cc::Build::new();
        compiler.file(SOURCE).warnings(true);
        let of = |prefix: &str| {
            let flags = shown.split_whitespace();
            let values = flags.filter_map(|flag| flag.strip_prefix(prefix));
            values.map(str::to_owned).collect::<Vec<_>>()
        };
        compiler.includes(of("-I"));
        compiler.compile("proofload_mpi");
        for directory in of("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        }
        for library in of("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }

    /// The command line by which the wrapper would call the compiler. Open MPI and MPICH both show it so.
    fn flags(wrapper: &str) -> String {
        match Command::new(wrapper).arg("-show").output() {
            Ok(shown) if shown.status.success() => {
                String::from_utf8_lossy(&shown.stdout).into_owned()
            }
            failed => panic!(
                "'{wrapper} -show' does not say how programs are built with MPI ({failed:?}). Install \
                 libopenmpi-dev or libmpich-dev, or name the wrapper with {WRAPPER}."
            ),
        }
    }
}
