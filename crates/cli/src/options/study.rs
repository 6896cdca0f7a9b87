//! The options of `study`.

use clap::Args;
use proofload::{Error, Value};

use super::load::settings;
use super::output::OutputOptions;

/// Options of `study`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:
  Every bundled study, every published figure:
    proofload study
  One of them, with the report of it:
    proofload study msa2040 --out msa2040-study
  The same with a parameter of the array changed, and short:
    proofload study msa2040 --set array.cache.destage.in_flight=96 --duration 10m --no-blind

Exit status:
    0  every figure that can be modelled is inside its tolerance
    1  some figure is outside
    2  usage or configuration: nothing was predicted
    4  a prediction ended with an error, such as a full volume
    5  a prediction that was to be steady was not
  130  interrupted; cases that were done are kept in the directory of the results")]
pub struct StudyOptions {
    /// Bundled studies (see `proofload list studies`), or paths of TOML files [default: all].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Length of the measured phase of every case, in simulated time, instead of its own.
    #[arg(long, value_name = "TIME", help_heading = "Cases")]
    pub duration: Option<String>,
    /// Seed of the random number generator, instead of each case's own.
    #[arg(long, value_name = "N", help_heading = "Cases")]
    pub seed: Option<String>,
    /// Change any setting of the profiles or, prefixed with 'array.', of the arrays, in all cases;
    /// may be given several times.
    #[arg(long, value_name = "PATH.TO.KEY=VALUE", help_heading = "Cases")]
    pub set: Vec<String>,
    /// Leave out the blind predictions, which do without what the studies were used to choose.
    #[arg(long, help_heading = "Cases")]
    pub no_blind: bool,
    /// Cases predicted at once [default: one for each CPU].
    #[arg(long, value_name = "N", help_heading = "Cases")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub output: OutputOptions,
}

impl StudyOptions {
    /// The studies that they ask for.
    ///
    /// # Errors
    /// A `--set` without a value.
    pub fn request(&self) -> Result<proofload::StudyOptions, Error> {
        let value = |text: &Option<String>| text.as_deref().map(Value::from);
        Ok(proofload::StudyOptions {
            names: self.names.clone(),
            duration: value(&self.duration),
            seed: value(&self.seed),
            settings: settings(&self.set)?,
            no_blind: self.no_blind,
            jobs: self.jobs,
            out: self.output.out.clone(),
        })
    }
}
