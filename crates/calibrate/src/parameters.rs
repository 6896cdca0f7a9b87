//! What may be fitted: numbers of the model, and between which bounds they are looked for.

use array::disk::{DiskDescription, HardDiskDescription, SolidStateDescription};
use config::{Source, Value};

use crate::probe::{Access, Probe};

/// What a parameter changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A setting of the array, by its path.
    Setting(String),
    /// Where the probes' span begins, as a share of what lies before and behind it: of a file on a disk it
    /// is not known.
    Start,
}

/// The values a parameter can have.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// Any number from one to the other, as likely per factor: for times and rates.
    Factor(f64, f64),
    /// Any number from one to the other.
    Linear(f64, f64),
    /// One of these values, none between them.
    Choice(Vec<f64>),
}

/// A number of the model that is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The setting of the model that it changes.
    pub target: Target,
    /// What it can be.
    pub range: Range,
    /// What it is without a fit.
    pub usual: f64,
    /// Settings that are never above it, with what they are without a fit.
    pub caps: Vec<(String, f64)>,
}

impl Range {
    /// The value at a place from 0 to 1.
    #[must_use]
    pub fn at(&self, place: f64) -> f64 {
        let place = place.clamp(0.0, 1.0);
        match self {
            Self::Factor(least, most) => least * (most / least).powf(place),
            Self::Linear(least, most) => least + (most - least) * place,
            Self::Choice(values) => {
                let number = (place * values.len() as f64) as usize;
                values[number.min(values.len() - 1)]
            }
        }
    }

    /// The place from 0 to 1 of a value; the nearest one of values outside.
    #[must_use]
    pub fn place_of(&self, value: f64) -> f64 {
        let place = match self {
            Self::Factor(least, most) => (value / least).ln() / (most / least).ln(),
            Self::Linear(least, most) => (value - least) / (most - least),
            Self::Choice(values) => {
                let distance = |one: &f64| (one - value).abs();
                let nearest = (0..values.len()).min_by(|&one, &other| {
                    distance(&values[one]).total_cmp(&distance(&values[other]))
                });
                (nearest.unwrap_or(0) as f64 + 0.5) / values.len() as f64
            }
        };
        place.clamp(0.0, 1.0)
    }

    /// Whether only whole numbers are meant.
    fn is_choice(&self) -> bool {
        matches!(self, Self::Choice(_))
    }
}

impl Parameter {
    fn setting(path: String, usual: f64, range: Range) -> Self {
        Self {
            target: Target::Setting(path),
            range,
            usual,
            caps: Vec::new(),
        }
    }

    /// The name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.target {
            Target::Setting(path) => path,
            Target::Start => "start of the probes, share of the capacity",
        }
    }

    /// The value with no more digits than any fit decides.
    #[must_use]
    pub fn rounded(&self, value: f64) -> f64 {
        match self.range.is_choice() {
            true => value.round(),
            false => to_digits(value, 5),
        }
    }
}

/// A number rounded to so many significant digits.
fn to_digits(value: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return value;
    }
    let factor = 10_f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    (value * factor).round() / factor
}

/// The settings that parameters with these values come to, and those that are never above them.
#[must_use]
pub fn settings(parameters: &[Parameter], values: &[f64]) -> Vec<(String, f64)> {
    let mut found: Vec<(String, f64)> = Vec::new();
    for (parameter, &value) in parameters.iter().zip(values) {
        if let Target::Setting(path) = &parameter.target {
            found.push((path.clone(), parameter.rounded(value)));
        }
    }
    for (parameter, &value) in parameters.iter().zip(values) {
        let cap = parameter.rounded(value);
        for (path, usual) in &parameter.caps {
            match found.iter_mut().find(|(other, _)| other == path) {
                Some((_, current)) => *current = current.min(cap),
                None => found.push((path.clone(), usual.min(cap))),
            }
        }
    }
    found
}

/// The same as assignments to a description.
#[must_use]
pub fn assignments(parameters: &[Parameter], values: &[f64]) -> Vec<Source> {
    let settings = settings(parameters, values).into_iter();
    settings
        .map(|(path, value)| Source::value("calibration", &path, &Value::Number(value).literal()))
        .collect()
}

/// What probes write, which decides what they say of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writes {
    /// They write nothing.
    None,
    /// From the beginning of their span on.
    Sequential,
    /// At random places, too.
    Random,
}

impl Writes {
    /// What these probes write.
    #[must_use]
    pub fn of<'a>(probes: impl IntoIterator<Item = &'a Probe>) -> Self {
        let jobs = probes.into_iter().flat_map(|probe| &probe.jobs);
        let writes = jobs.map(|job| match job.access {
            Access::RandomRead | Access::SequentialRead => Self::None,
            Access::SequentialWrite => Self::Sequential,
            Access::RandomWrite => Self::Random,
        });
        writes.max().unwrap_or(Self::None)
    }
}

/// The parameters of a disk called `name`: those of its kind, around what the description says.
#[must_use]
pub fn of_disk(name: &str, disk: &DiskDescription, writes: Writes) -> Vec<Parameter> {
    if let Some(hard_disk) = &disk.hard_disk {
        return of_hard_disk(&format!("disks.{name}.hard_disk"), hard_disk);
    }
    if let Some(flash) = &disk.solid_state {
        return of_solid_state(&format!("disks.{name}.solid_state"), flash, writes);
    }
    Vec::new()
}

fn around(usual: f64, factor: f64) -> Range {
    Range::Factor(usual / factor, usual * factor)
}

fn of_hard_disk(path: &str, disk: &HardDiskDescription) -> Vec<Parameter> {
    let setting =
        |key: &str, usual, range| Parameter::setting(format!("{path}.{key}"), usual, range);
    let depths = [
        1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0,
    ];
    let depth = disk.scheduler_depth.unwrap_or(disk.on_board_queue_depth);
    vec![
        setting(
            "command_overhead_ms",
            disk.command_overhead_ms,
            Range::Factor(0.02, 2.0),
        ),
        setting("settle_ms", disk.settle_ms, Range::Linear(0.0, 2.0)),
        setting(
            "scheduler_depth",
            f64::from(depth),
            Range::Choice(depths.to_vec()),
        ),
        setting(
            "outer_to_inner_rate_ratio",
            disk.outer_to_inner_rate_ratio,
            Range::Linear(1.2, 2.6),
        ),
        Parameter {
            target: Target::Start,
            range: Range::Linear(0.0, 1.0),
            usual: 0.0,
            caps: Vec::new(),
        },
    ]
}

fn of_solid_state(path: &str, flash: &SolidStateDescription, writes: Writes) -> Vec<Parameter> {
    let setting =
        |key: &str, usual, range| Parameter::setting(format!("{path}.{key}"), usual, range);
    let page = f64::from(flash.page_bytes);
    let write_rates = [
        (
            "sequential_write_mb_per_s",
            Some(flash.sequential_write_mb_per_s),
        ),
        ("slc_write_mb_per_s", flash.slc_write_mb_per_s),
    ];
    let write_rates = write_rates
        .into_iter()
        .filter_map(|(key, rate)| Some((key, rate?)));
    let stripe = flash.stripe_bytes.map_or(page, f64::from);
    let sense = flash.sense_bytes.map_or(stripe, f64::from);
    let blocks: Vec<f64> = [4_096.0, 8_192.0, 16_384.0, 32_768.0, 65_536.0]
        .into_iter()
        .filter(|bytes| *bytes <= page)
        .collect();
    let mut found = vec![
        setting(
            "page_read_us",
            flash.page_read_us,
            around(flash.page_read_us, 4.0),
        ),
        setting(
            "command_latency_us",
            flash.command_latency_us,
            Range::Factor(1.0, 300.0),
        ),
        setting(
            "read_variation",
            flash.read_variation,
            Range::Factor(0.02, 1.0),
        ),
        setting(
            "random_read_4k_iops",
            flash.random_read_4k_iops,
            around(flash.random_read_4k_iops, 4.0),
        ),
        Parameter {
            caps: write_rates
                .map(|(key, rate)| (format!("{path}.{key}"), rate))
                .collect(),
            ..setting(
                "interface_mb_per_s",
                flash.interface_mb_per_s,
                around(flash.interface_mb_per_s, 2.0),
            )
        },
        setting(
            "channel_mb_per_s",
            flash.channel_mb_per_s,
            around(flash.channel_mb_per_s, 4.0),
        ),
        setting(
            "partial_block_us",
            flash.partial_block_us,
            Range::Linear(0.0, 100.0),
        ),
        setting("stripe_bytes", stripe, Range::Choice(blocks.clone())),
        setting("sense_bytes", sense, Range::Choice(blocks)),
    ];
    if writes >= Writes::Sequential {
        found.push(setting(
            "sequential_write_mb_per_s",
            flash.sequential_write_mb_per_s,
            around(flash.sequential_write_mb_per_s, 3.0),
        ));
    }
    if writes == Writes::Random {
        // A consumer disk acknowledges from its memory, a volume behind a network after a round trip.
        found.push(setting(
            "write_latency_us",
            flash.write_latency_us,
            Range::Factor(1.0, 3_000.0),
        ));
        found.push(setting(
            "random_write_4k_iops",
            flash.random_write_4k_iops,
            around(flash.random_write_4k_iops, 10.0),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_and_values_belong_together(place in 0.0..1.0_f64) {
            for range in [Range::Factor(0.5, 80.0), Range::Linear(-1.0, 3.0)] {
                prop_assert!((range.place_of(range.at(place)) - place).abs() < 1e-9);
            }
            let choice = Range::Choice(vec![1.0, 2.0, 8.0]);
            let value = choice.at(place);
            prop_assert_eq!(choice.at(choice.place_of(value)), value);
        }
    }

    #[test]
    fn values_are_rounded_to_what_a_fit_decides() {
        let parameter = |range| Parameter::setting("a.b".to_owned(), 1.0, range);
        let number = parameter(Range::Linear(0.0, 1e6));
        for (value, rounded) in [
            (72.267_16, 72.267),
            (224_940.28, 224_940.0),
            (0.081_342_4, 0.081_342),
            (0.0, 0.0),
        ] {
            assert_eq!(number.rounded(value), rounded);
        }
        let choice = parameter(Range::Choice(vec![4_096.0, 8_192.0]));
        let written = assignments(&[choice], &[8_192.0]);
        assert_eq!(written[0].text, "a.b=8192");
    }

    #[test]
    fn settings_are_kept_below_their_caps() {
        let mut interface =
            Parameter::setting("a.interface".to_owned(), 500.0, Range::Linear(100.0, 900.0));
        interface.caps = vec![
            ("a.writes".to_owned(), 480.0),
            ("a.cached".to_owned(), 300.0),
        ];
        let writes = Parameter::setting("a.writes".to_owned(), 480.0, Range::Linear(100.0, 900.0));
        let both = [interface, writes];
        let assigned = |values: [f64; 2]| -> Vec<String> {
            assignments(&both, &values)
                .into_iter()
                .map(|source| source.text)
                .collect()
        };
        assert_eq!(
            assigned([600.0, 550.0]),
            ["a.interface=600", "a.writes=550", "a.cached=300"]
        );
        assert_eq!(
            assigned([250.0, 260.0]),
            ["a.interface=250", "a.writes=250", "a.cached=250"]
        );
    }

    #[test]
    fn values_outside_have_the_nearest_place() {
        assert_eq!(Range::Factor(1.0, 10.0).place_of(100.0), 1.0);
        assert_eq!(Range::Linear(1.0, 10.0).place_of(-5.0), 0.0);
        assert_eq!(Range::Choice(vec![4.0, 8.0]).at(1.0), 8.0);
    }
}
