//! Times that vary: lognormal factors with a mean of 1, from a table.

use std::sync::Arc;

/// Steps of the table.
const FACTORS: usize = 1 << 10;

/// Equally likely values of a lognormal factor with mean 1. Copies share the table.
#[derive(Debug, Clone)]
pub(super) struct LognormalFactors(Arc<[f32]>);

impl LognormalFactors {
    /// Factors with this standard deviation.
    pub(super) fn new(deviation: f64) -> Self {
        let sigma = (1.0 + deviation * deviation).ln().sqrt();
        let factors: Vec<f64> = (0..FACTORS)
            .map(|step| (step as f64 + 0.5) / FACTORS as f64)
            .map(|share| (sigma * normal_quantile(share)).exp())
            .collect();
        let mean = factors.iter().sum::<f64>() / FACTORS as f64;
        let factors = factors.iter().map(|factor| (factor / mean) as f32);
        Self(factors.collect())
    }

    /// A factor drawn with 10 random bits, the lowest.
    #[inline]
    pub(super) fn draw(&self, bits: u64) -> f64 {
        f64::from(self.0[bits as usize & (FACTORS - 1)])
    }
}

/// The standard normal quantile, by Winitzki's approximation of the inverse error function, good
/// to about 0.002.
fn normal_quantile(share: f64) -> f64 {
    const SHAPE: f64 = 0.147;
    let x = 2.0 * share - 1.0;
    let log = (1.0 - x * x).ln();
    let half = 2.0 / (std::f64::consts::PI * SHAPE) + log / 2.0;
    let root = ((half * half - log / SHAPE).sqrt() - half).sqrt();
    std::f64::consts::SQRT_2 * root.copysign(x)
}
