//! From measured probes to a model: which parameter sets explain them, and how far they are from the probes
//! that took no part.

use std::fmt;

use array::description::Description;
use config::{ConfigError, Source};
use thiserror::Error;

use crate::misfit::{Deviation, Quantity, deviations, loss, noise_of};
use crate::model::{self, ModelError, ModelOptions};
use crate::parameters::{Parameter, Target, assignments};
use crate::probe::Measured;
use crate::search::{Search, SearchSettings};

/// A probe that makes more work than this many small requests is too long to be tried often.
const MOST_WORK: f64 = 40_000.0;

/// The work of all fitted probes together is at most this.
const MOST_WORK_TOGETHER: f64 = 200_000.0;

/// With so many probes of one job, probes of several jobs at once only judge: in them the parameters hide each
/// other.
const ENOUGH_ALONE: usize = 10;

/// Fewer probes say too little.
const FEWEST_PROBES: usize = 4;

/// One probe in so many takes no part in the fit.
const HELD_OUT_EVERY: usize = 5;

/// Parameter sets of a calibration.
const ENSEMBLE: usize = 50;

/// Of what is certain to this share, 5 % lie below and 5 % above.
const TAIL: f64 = 0.05;

/// A parameter whose bounds cover more than this share of what it could be was not identified.
const IDENTIFIED_SHARE: f64 = 0.6;

/// Why there is no calibration.
#[derive(Debug, Error)]
pub enum CalibrationError {
    /// There are too few probes to fit anything to.
    #[error("Of {probes} tests fewer than {FEWEST_PROBES} can be fitted.")]
    TooFewProbes {
        /// How many probes there are.
        probes: usize,
    },
    /// The description has no parameters.
    #[error("The description has no parameters that could be fitted.")]
    NoParameters,
    /// The description is wrong.
    #[error(transparent)]
    Description(#[from] ConfigError),
    /// No parameter set makes a model.
    #[error("No parameter set makes a model: {0}")]
    Model(#[from] ModelError),
}

/// What part a probe has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its figures were fitted.
    Fitted,
    /// It was kept back as a judge.
    HeldOut,
    /// It has several jobs at once, or makes too much work to be tried often, and is a judge, too.
    NotFitted,
}

/// A probe with the figures of the best parameter set.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Its number in the list of probes.
    pub probe: usize,
    /// What part it had.
    pub part: Part,
    /// Each figure, measured and modelled.
    pub deviations: Vec<Deviation>,
}

/// A parameter after the fit.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The parameter that was fitted.
    pub parameter: Parameter,
    /// Its value in the best parameter set.
    pub best: f64,
    /// 90 % of the ensemble lie between these.
    pub bounds: (f64, f64),
    /// Whether the probes say anything of it: its bounds are narrower than what it could be.
    pub is_identified: bool,
}

/// Parameter sets that explain what was measured.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// Every parameter of the class, also those that the tests do not identify.
    pub parameters: Vec<Fitted>,
    /// Values of the parameters, in their order: sets that explain the probes within the noise.
    pub ensemble: Vec<Vec<f64>>,
    /// Every probe beside what the fitted model makes of it.
    pub judged: Vec<Judged>,
    /// Noise that explains what is left, in multiples of that of repeated measurements.
    pub noise: f64,
}

impl Calibration {
    /// Mean of the absolute errors of a figure over the probes of a part; `None` when there are none.
    #[must_use]
    pub fn mean_error(&self, part: Part, quantity: Quantity) -> Option<f64> {
        let judged = self.judged.iter().filter(|judged| judged.part == part);
        let deviations = judged.flat_map(|judged| &judged.deviations);
        let errors: Vec<f64> = deviations
            .filter(|deviation| deviation.quantity == quantity)
            .map(|deviation| deviation.error().abs())
            .collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }
}

/// How far a calibration has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps that are done.
    pub done: usize,
    /// Steps of the whole.
    pub steps: usize,
    /// Loss of the best parameter set so far.
    pub loss: f64,
}

/// What is calibrated, and how long it is looked for.
#[derive(Debug)]
pub struct Calibrator<'a> {
    /// The description to begin with.
    pub sources: Vec<Source>,
    /// What is looked for.
    pub parameters: Vec<Parameter>,
    /// The measured probes, those that are held out included.
    pub probes: &'a [Measured],
    /// Requests of a job that say enough of it while parameters are searched, such as 2,000.
    pub requests: usize,
    /// How long it is looked for.
    pub search: SearchSettings,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fitted => "fitted",
            Self::HeldOut => "held out",
            Self::NotFitted => "not fitted",
        })
    }
}

impl Calibrator<'_> {
    /// Looks for the parameter sets. `progress` is called after every step.
    ///
    /// # Errors
    /// Everything of [`CalibrationError`].
    pub fn calibrate(
        &self,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Calibration, CalibrationError> {
        self.check()?;
        let parts = self.parts();
        let fitted: Vec<&Measured> = (self.probes.iter().zip(&parts))
            .filter(|(_, part)| **part == Part::Fitted)
            .map(|(probe, _)| probe)
            .collect();
        let usual = self.parameters.iter();
        let usual: Vec<f64> = usual.map(|one| one.range.place_of(one.usual)).collect();
        let cooling_objective = |place: &[f64]| self.loss(place, &fitted, 1.0);
        let mut search = Search::new(self.search, &usual, &cooling_objective);
        let steps = self.search.cooling + self.search.sampling;
        for number in 0..self.search.cooling {
            search.step(search.temperature(number), &cooling_objective);
            progress(Progress {
                done: number + 1,
                steps,
                loss: search.best().loss,
            });
        }
        search.refine(&cooling_objective);
        let best = search.best().place.clone();
        let noise = noise_of(&self.deviations_of(&best, &fitted)?);
        let objective = |place: &[f64]| self.loss(place, &fitted, noise);
        for member in &mut search.members {
            member.loss = objective(&member.place);
        }
        let mut best = search.best().clone();
        let mut drawn = Vec::new();
        for number in 0..self.search.sampling {
            search.step(1.0, &objective);
            if search.best().loss < best.loss {
                best = search.best().clone();
            }
            // The first half is on its way from the search to the posterior.
            if number >= self.search.sampling / 2 {
                drawn.extend(search.members.iter().map(|member| member.place.clone()));
            }
            progress(Progress {
                done: self.search.cooling + number + 1,
                steps,
                loss: best.loss,
            });
        }
        Ok(Calibration {
            parameters: self.fitted(&best.place, &drawn),
            ensemble: ensemble(&drawn).map(|place| self.values(place)).collect(),
            judged: self.judged(&best.place, &parts)?,
            noise,
        })
    }

    /// Whether there is something to fit, and something to fit it to.
    ///
    /// # Errors
    /// [`CalibrationError::NoParameters`] and [`CalibrationError::TooFewProbes`].
    pub fn check(&self) -> Result<(), CalibrationError> {
        if self.parameters.is_empty() {
            return Err(CalibrationError::NoParameters);
        }
        let fitted = self
            .parts()
            .into_iter()
            .filter(|part| *part == Part::Fitted);
        match fitted.count() >= FEWEST_PROBES {
            true => Ok(()),
            false => Err(CalibrationError::TooFewProbes {
                probes: self.probes.len(),
            }),
        }
    }

    /// Which probes are fitted, and which judge: those of one job first, as long as all of them together can
    /// be tried often.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = vec![Part::NotFitted; self.probes.len()];
        let mut order: Vec<usize> = (0..self.probes.len()).collect();
        let is_mix = |number: usize| self.probes[number].probe.jobs.len() > 1;
        order.sort_by_key(|&number| is_mix(number));
        let alone = order.iter().filter(|&&number| !is_mix(number)).count();
        let (mut short, mut work) = (0, 0.0);
        for number in order {
            let own = self.probes[number].work_needed(self.requests);
            if own > MOST_WORK || is_mix(number) && alone >= ENOUGH_ALONE {
                continue;
            }
            short += 1;
            if short % HELD_OUT_EVERY == 3 {
                parts[number] = Part::HeldOut;
            } else if work + own <= MOST_WORK_TOGETHER {
                work += own;
                parts[number] = Part::Fitted;
            }
        }
        parts
    }

    fn values(&self, place: &[f64]) -> Vec<f64> {
        let pairs = self.parameters.iter().zip(place);
        pairs
            .map(|(parameter, place)| parameter.range.at(*place))
            .collect()
    }

    /// The description with these values, and where the probes begin.
    fn model(&self, place: &[f64]) -> Result<(Description, f64), ConfigError> {
        let values = self.values(place);
        let mut sources = self.sources.clone();
        sources.extend(assignments(&self.parameters, &values));
        let pairs = self.parameters.iter().zip(&values);
        let mut starts = pairs.filter(|(parameter, _)| parameter.target == Target::Start);
        let start_share = starts.next().map_or(0.0, |(_, &value)| value);
        Ok((Description::load(&sources)?, start_share))
    }

    fn deviations_of(
        &self,
        place: &[f64],
        probes: &[&Measured],
    ) -> Result<Vec<Deviation>, ModelError> {
        let (description, start_share) = self.model(place)?;
        let options = ModelOptions {
            seed: self.search.seed,
            start_share,
            enough_requests: self.requests,
        };
        let mut all = Vec::new();
        for measured in probes {
            let figures = model::run(&description, &measured.probe, options)?;
            all.extend(deviations(measured, &figures));
        }
        Ok(all)
    }

    /// What the search makes small; infinite where there is no model.
    fn loss(&self, place: &[f64], probes: &[&Measured], noise: f64) -> f64 {
        let found = self.deviations_of(place, probes);
        found.map_or(f64::INFINITY, |found| loss(&found, noise))
    }

    fn judged(&self, place: &[f64], parts: &[Part]) -> Result<Vec<Judged>, ModelError> {
        let (description, start_share) = self.model(place)?;
        let options = ModelOptions {
            seed: self.search.seed.wrapping_add(1),
            start_share,
            ..ModelOptions::default()
        };
        let numbered = self.probes.iter().zip(parts).enumerate();
        let judged = numbered.map(|(probe, (measured, &part))| {
            let figures = model::run(&description, &measured.probe, options)?;
            Ok(Judged {
                probe,
                part,
                deviations: deviations(measured, &figures),
            })
        });
        judged.collect()
    }

    fn fitted(&self, best: &[f64], drawn: &[Vec<f64>]) -> Vec<Fitted> {
        let numbered = self.parameters.iter().enumerate();
        let fitted = numbered.map(|(number, parameter)| {
            let mut places: Vec<f64> = drawn.iter().map(|place| place[number]).collect();
            places.push(best[number]);
            places.sort_by(f64::total_cmp);
            let at = |share: f64| places[((places.len() - 1) as f64 * share).round() as usize];
            let (low, high) = (at(TAIL), at(1.0 - TAIL));
            Fitted {
                parameter: parameter.clone(),
                best: parameter.range.at(best[number]),
                bounds: (parameter.range.at(low), parameter.range.at(high)),
                is_identified: high - low < IDENTIFIED_SHARE,
            }
        });
        fitted.collect()
    }
}

/// Places evenly over all that were drawn.
fn ensemble(drawn: &[Vec<f64>]) -> impl Iterator<Item = &[f64]> {
    let count = ENSEMBLE.min(drawn.len());
    (0..count).map(move |number| drawn[number * drawn.len() / count].as_slice())
}
