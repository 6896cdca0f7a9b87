//! What the requests of a job amounted to.

/// The quantiles that are compared.
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Rate and response times of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Requests per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// How many requests these are.
    pub requests: u64,
    /// Mean response time, microseconds.
    pub mean_us: f64,
    /// Response times at [`QUANTILES`], microseconds; `None` where one was not measured.
    pub quantiles_us: [Option<f64>; QUANTILES.len()],
}

impl Figures {
    /// The figures of requests that took so long, in `seconds`; `None` when there was none.
    /// Response times are put in order.
    #[must_use]
    pub fn of_responses(responses_us: &mut [f64], bytes: u64, seconds: f64) -> Option<Self> {
        if responses_us.is_empty() || seconds <= 0.0 {
            return None;
        }
        responses_us.sort_by(f64::total_cmp);
        let count = responses_us.len();
        // The smallest value that so large a share of all is not above.
        let at = |quantile: f64| {
            let rank = (quantile * count as f64).ceil() as usize;
            responses_us[rank.clamp(1, count) - 1]
        };
        Some(Self {
            iops: count as f64 / seconds,
            bytes_per_s: bytes as f64 / seconds,
            requests: count as u64,
            mean_us: responses_us.iter().sum::<f64>() / count as f64,
            quantiles_us: QUANTILES.map(|quantile| Some(at(quantile))),
        })
    }

    /// The response time that 99 % of the requests are not above, microseconds.
    #[must_use]
    pub fn p99_us(&self) -> Option<f64> {
        self.quantiles_us[2]
    }
}
