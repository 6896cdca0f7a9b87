//! Histograms, samples, service levels, the verdict and the run directory.
