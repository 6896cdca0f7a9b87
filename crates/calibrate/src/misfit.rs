//! How far a model is from what was measured.

use crate::figures::Figures;
use crate::probe::{Job, Measured};

/// A figure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Requests per second of a job without a limit.
    Throughput,
    /// Mean response time of a job with a limit: its rate is what the limit says.
    MeanLatency,
    /// Response time that 99 % of the requests are not above.
    P99Latency,
}

impl Quantity {
    /// The standard deviation of repeated measurements, as a share: what short runs on real drives show.
    fn noise(self) -> f64 {
        match self {
            Self::Throughput => 0.02,
            Self::MeanLatency => 0.05,
            Self::P99Latency => 0.20,
        }
    }
}

/// A figure of a job, measured and modelled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// Number of the job in its probe.
    pub job: usize,
    /// The figure whose measured and modelled values differ.
    pub quantity: Quantity,
    /// What the storage did.
    pub measured: f64,
    /// What the model does.
    pub modelled: f64,
}

impl Deviation {
    /// Modelled over measured, less 1.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.modelled / self.measured - 1.0
    }

    /// In standard deviations of the noise.
    fn deviations(&self) -> f64 {
        (self.modelled / self.measured).ln() / self.quantity.noise()
    }
}

/// The figures of a probe that can be compared.
#[must_use]
pub fn deviations(measured: &Measured, modelled: &[Figures]) -> Vec<Deviation> {
    let jobs = measured.probe.jobs.iter().enumerate();
    let pairs = measured.figures.iter().zip(modelled);
    jobs.zip(pairs)
        .flat_map(|((number, job), (real, model))| of_job(number, job, real, model))
        .collect()
}

fn of_job(
    number: usize,
    job: &Job,
    real: &Figures,
    model: &Figures,
) -> impl Iterator<Item = Deviation> {
    let first = match job.limit_bytes_per_s {
        None => (Quantity::Throughput, Some(real.iops), Some(model.iops)),
        Some(_) => (
            Quantity::MeanLatency,
            Some(real.mean_us),
            Some(model.mean_us),
        ),
    };
    let p99 = (Quantity::P99Latency, real.p99_us(), model.p99_us());
    [first, p99]
        .into_iter()
        .filter_map(move |(quantity, measured, modelled)| {
            let (measured, modelled) = (measured?, modelled?);
            (measured > 0.0 && modelled > 0.0).then_some(Deviation {
                job: number,
                quantity,
                measured,
                modelled,
            })
        })
}

/// Degrees of freedom of Student's distribution: few, so that a figure that no parameters explain does not
/// spoil all others.
const FREEDOM: f64 = 4.0;

/// The negative logarithm of the likelihood of deviations, but for a constant, when the noise is so many
/// times what repeated measurements show.
#[must_use]
pub fn loss(deviations: &[Deviation], noise: f64) -> f64 {
    let of_one = |deviation: &Deviation| {
        let z = deviation.deviations() / noise;
        (FREEDOM + 1.0) / 2.0 * (z * z / FREEDOM).ln_1p()
    };
    deviations.iter().map(of_one).sum()
}

/// How many times the noise of repeated measurements explains these deviations: 1 at least. What a model
/// cannot say is in it, too.
#[must_use]
pub fn noise_of(deviations: &[Deviation]) -> f64 {
    let mut sizes: Vec<f64> = deviations
        .iter()
        .map(|one| one.deviations().abs())
        .collect();
    if sizes.is_empty() {
        return 1.0;
    }
    sizes.sort_by(f64::total_cmp);
    // Two of three deviations are smaller than one standard deviation.
    sizes[(sizes.len() * 2 / 3).min(sizes.len() - 1)].max(1.0)
}
