//! `--find`: the most load that passes, or the least flash with which this load passes.

use std::collections::BTreeMap;

use config::{Choice as _, choice};
use measure::display::number::{figure, latency};
use measure::grid::{GridAnswer, GridPoint};
use measure::result::Verdict;
use workload::{LoadAxis, Workload};

use super::axis::Axis;
use super::flash::Flash;
use super::point::{Point, combinations};
use super::search::Search;
use crate::scenario::Scenario;
use crate::setting::{Key, Setting, Value};
use execution::Error;

/// Without a range of its own a rate is looked for between these, I/Os per second.
const RATES: (f64, f64) = (10.0, 1_000_000.0);

/// Each rate is so many times the one before: the answer is as exact as that.
const RATE_STEP: f64 = 1.05;

/// How far below it the achieved rate may stay of a rate that counts as carried, as a fraction: less than
/// half a step of the rates. The margin of a single run would let a rate pass that the next one exceeds.
const NOT_CARRIED: f64 = 0.02;
const ACHIEVED_MARGIN: &str = "service_levels.achieved_margin_fraction";

/// Without a range of their own, counts of SSDs that are tried; those that cannot be are left out.
const SSD_COUNTS: [u32; 12] = [0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24];

/// The setting whose path is searched over when flash is looked for.
const SSD_COUNT: &str = "array.pool.ssd_count";

choice! {
    /// What a search looks for.
    pub enum Find {
        /// The most load that passes.
        MaxIops = "max-iops",
        /// The least flash that lets this load pass.
        MinFlash = "min-flash",
    }
}

/// One question: points in an order in which each asks more of the array than the one before.
pub struct Question {
    pub find: Find,
    /// The setting that is searched over.
    pub key: String,
    /// The other settings it holds for.
    pub of: BTreeMap<String, String>,
    pub points: Vec<Point>,
    pub search: Search,
}

/// What is searched over, and what else is varied.
pub fn axes(find: Find, load: LoadAxis, given: Vec<Axis>) -> (Axis, bool, Vec<Axis>) {
    let is_searched = |axis: &Axis| match find {
        Find::MaxIops => match (&axis.key, load) {
            (Key::Rate | Key::Threads | Key::Users, _) => true,
            (Key::Path(path), LoadAxis::Clients { setting, .. }) => path == setting,
            _ => false,
        },
        Find::MinFlash => axis.key.is_of_array(),
    };
    let mut others = given;
    if let Some(place) = others.iter().position(is_searched) {
        let searched = others.remove(place);
        return (searched, true, others);
    }
    let searched = match (find, load) {
        (Find::MaxIops, LoadAxis::Clients { setting, most }) => Axis::new(setting, clients(most)),
        (Find::MaxIops, LoadAxis::Rate) => Axis::new("rate", rates()),
        (Find::MinFlash, _) => Axis::new(SSD_COUNT, SSD_COUNTS),
    };
    (searched, false, others)
}

/// Numbers of clients, each a step above the one before.
fn clients(most: f64) -> Vec<Value> {
    let steps = most.ln() / RATE_STEP.ln();
    let mut clients: Vec<u32> = (0..=steps as u32)
        .map(|step| RATE_STEP.powi(step as i32).round() as u32)
        .collect();
    clients.dedup();
    clients.into_iter().map(Value::from).collect()
}

/// Rates with three digits, each a step above the one before.
fn rates() -> Vec<Value> {
    let steps = (RATES.1 / RATES.0).ln() / RATE_STEP.ln();
    let rate = |step: u32| RATES.0 * RATE_STEP.powi(step as i32);
    let rounded = |rate: f64| {
        let unit = 10f64.powf(rate.log10().floor() - 2.0);
        let rate = (rate / unit).round() * unit;
        if rate < 100.0 {
            format!("{rate:.1}")
        } else {
            format!("{rate:.0}")
        }
    };
    let rates = (0..=steps as u32).map(|step| rounded(rate(step)));
    rates.map(Value::of_text).collect()
}

/// The questions, one for each combination of the other settings, with every point checked.
///
/// # Errors
/// The first point that cannot be, unless its value was not asked for by the user.
pub fn questions(
    find: Find,
    scenario: &Scenario,
    given: Vec<Axis>,
    notes: &mut Vec<String>,
) -> Result<Vec<Question>, Error> {
    let workload = workload(scenario, &given);
    let (searched, was_given, others) = axes(find, workload.load_axis(), given);
    if searched.key == Key::Rate && scenario.value_of(&Key::Rate).is_some() {
        return Err(Error::usage(
            "--rate says a rate, and --find max-iops looks for one.",
            "Leave out --rate, or name the rates to try with --sweep rate=1000,2000.",
        ));
    }
    let mut scenario = scenario.clone();
    if searched.key == Key::Threads {
        // The most that goes through is looked for, not whether a rate is reached.
        let setting = workload.without_target_rate();
        let setting = setting.map(|(path, value)| Setting::at(path, value));
        scenario.settings.extend(setting);
    }
    if find == Find::MaxIops && searched.key == Key::Rate {
        // What was asked for beyond what was carried is no load that passes; settings of the user win.
        let carried = Setting::at(ACHIEVED_MARGIN, NOT_CARRIED);
        scenario.settings.insert(0, carried);
    }
    let mut axes = others.clone();
    axes.push(searched.clone());
    let mut questions = Vec::new();
    for head in combinations(&others) {
        let mut points: Vec<Point> = Vec::new();
        let mut is_any_refused = false;
        for value in &searched.values {
            // What rate is held changes nothing else, so that one of these many points stands for all.
            let alike = points
                .first()
                .filter(|_| !was_given && searched.key == Key::Rate);
            if let Some(alike) = alike {
                points.push(alike.at_rate(&axes, value));
                continue;
            }
            let mut values = head.clone();
            values.push(value);
            match Point::check(&scenario, &axes, &values) {
                Ok(point) => points.push(point),
                Err(error) if was_given || find == Find::MaxIops => return Err(error),
                Err(_) => is_any_refused = true,
            }
        }
        if is_any_refused && points.is_empty() {
            // What is wrong without any of the values has nothing to do with them.
            Point::check(&scenario, &others, &head)?;
            return Err(Error::usage(
                format!(
                    "No array is possible with any number of SSDs ({SSD_COUNT}), so there is no least flash to find."
                ),
                "Name an array with a pool, such as msa2050-tier, or with --sweep array.KEY=VALUES what \
                 shall vary.",
            ));
        }
        if is_any_refused {
            notes.push(left_out(&searched, &points));
        }
        order(find, &searched, &mut points)?;
        let of = others.iter().zip(&head);
        questions.push(Question {
            find,
            key: searched.key.to_string(),
            of: of
                .map(|(axis, value)| (axis.key.to_string(), value.to_string()))
                .collect(),
            search: Search::new(points.len()),
            points,
        });
    }
    Ok(questions)
}

/// The workload; one that cannot be loaded is refused later, with its reason.
fn workload(scenario: &Scenario, given: &[Axis]) -> &'static dyn Workload {
    let values: Vec<&Value> = given
        .iter()
        .filter_map(|axis| axis.values.first())
        .collect();
    let default = scenario.registry.workloads[0];
    Point::check(scenario, given, &values).map_or(default, |point| point.plan.profile.workload())
}

fn left_out(searched: &Axis, points: &[Point]) -> String {
    let key = searched.key.to_string();
    let values = searched.values.iter().map(Value::to_string);
    let values = values.filter(|value| {
        let mut known = points.iter().filter_map(|point| point.values.get(&key));
        !known.any(|known| known == value)
    });
    let values: Vec<String> = values.collect();
    format!(
        "No array is possible with {key} = {}; left out.",
        values.join(", ")
    )
}

/// Puts the points in the order in which each asks more of the array than the one before.
fn order(find: Find, searched: &Axis, points: &mut [Point]) -> Result<(), Error> {
    match find {
        Find::MaxIops => {
            let key = searched.key.to_string();
            let number = |point: &Point| -> f64 {
                let value = point.values.get(&key);
                value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
            };
            points.sort_by(|a, b| number(a).total_cmp(&number(b)));
            Ok(())
        }
        Find::MinFlash => {
            points.sort_by_key(|point| std::cmp::Reverse(point.entry().flash_bytes));
            let sizes = points.iter().map(|point| point.entry().flash_bytes);
            let (least, most) = (sizes.clone().min(), sizes.max());
            if least < most {
                return Ok(());
            }
            Err(Error::usage(
                format!(
                    "{} does not change how much flash the array has, so there is nothing to find.",
                    searched.key
                ),
                "Say what SSDs are for with --set array.pool.ssd_use=tier (or read-cache), or name \
                 with --sweep array.KEY=VALUES what shall vary.",
            ))
        }
    }
}

impl Question {
    /// The answer, when the search is over.
    pub fn answer(&self, points: &[GridPoint]) -> GridAnswer {
        let entry = |number: usize| {
            let name = &self.points[number].name;
            points.iter().find(|point| point.name == *name)
        };
        let best = self.search.answer().and_then(entry);
        let next = self.search.next().and_then(entry);
        let unjudged = self.search.undecided().and_then(entry);
        GridAnswer {
            find: self.find.name().to_owned(),
            of: self.of.clone(),
            key: self.key.clone(),
            point: best.map(|point| point.name.clone()),
            next: next.map(|point| point.name.clone()),
            unjudged: unjudged.map(|point| point.name.clone()),
            sentence: match self.find {
                Find::MaxIops => most_load(best, next),
                Find::MinFlash => least_flash(best, next, |name| {
                    let mut points = self.points.iter();
                    let point = points.find(|point| point.name == name)?;
                    Some(point.flash())
                }),
            },
        }
    }
}

fn most_load(best: Option<&GridPoint>, next: Option<&GridPoint>) -> String {
    let name = |point: &GridPoint| point.name.clone();
    match (best, next) {
        (None, Some(next)) => format!(
            "No tested load {} {}",
            passing(next),
            verdict_on(next, name)
        ),
        (None, None) => "No configuration was tested.".to_owned(),
        (Some(best), next) => {
            let read = best.database_read_ms.map_or(String::new(), |ms| {
                format!(", average database read latency {}", latency(ms))
            });
            let figures = format!(
                "{} ({} IOPS{read})",
                best.name,
                figure(best.achieved_iops.unwrap_or(f64::NAN))
            );
            match next {
                Some(next) => format!(
                    "The most load that {}: {figures}. {}",
                    passes(next),
                    verdict_on(next, name)
                ),
                None => {
                    format!("The most load that passes: {figures}. It is the highest load tested.")
                }
            }
        }
    }
}

/// `flash` gives the flash of a point by its name.
fn least_flash(
    best: Option<&GridPoint>,
    next: Option<&GridPoint>,
    flash: impl Fn(&str) -> Option<Flash>,
) -> String {
    let named = |point: &GridPoint| match flash(&point.name) {
        Some(flash) => format!("{} ({})", point.name, flash.in_words()),
        None => point.name.clone(),
    };
    let warning = best.and_then(|best| flash(&best.name));
    let warning = warning.map_or("", |flash| flash.warning());
    match (best, next) {
        (None, Some(next)) => format!(
            "No tested configuration {} {}",
            passing(next),
            verdict_on(next, named)
        ),
        (None, None) => "Nothing was tried.".to_owned(),
        (Some(best), Some(next)) => format!(
            "The least flash with which this load {}: {}.{warning} {}",
            passes(next),
            named(best),
            verdict_on(next, named)
        ),
        (Some(best), None) => format!(
            "The load passes with the least flash that was tested: {}.{warning}",
            named(best)
        ),
    }
}

/// How certain it is that nothing beyond passes, by the first point that does not.
fn passes(next: &GridPoint) -> &'static str {
    match next.verdict {
        Some(Verdict::Inconclusive) => "is known to pass",
        _ => "passes",
    }
}

/// The same before what is said of the point.
fn passing(next: &GridPoint) -> String {
    let mark = match next.verdict {
        Some(Verdict::Inconclusive) => '.',
        _ => ':',
    };
    format!("{}{mark}", passes(next))
}

/// What is said of a point that does not pass.
fn verdict_on(point: &GridPoint, name: impl Fn(&GridPoint) -> String) -> String {
    let (name, reason) = (name(point), &point.verdict_reason);
    match point.verdict {
        Some(Verdict::Inconclusive) => {
            format!("The answer depends on {name}, which could not be judged: {reason}")
        }
        _ => format!("{name} does not: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, verdict: Verdict) -> GridPoint {
        GridPoint {
            name: name.to_owned(),
            verdict: Some(verdict),
            verdict_reason: "That is why.".to_owned(),
            achieved_iops: Some(510.0),
            ..GridPoint::default()
        }
    }

    #[test]
    fn an_answer_names_the_point_it_depends_on() {
        let best = point("rate=1", Verdict::Pass);
        let fails = point("rate=2", Verdict::Fail);
        let doubtful = point("rate=2", Verdict::Inconclusive);
        assert_eq!(
            most_load(Some(&best), Some(&fails)),
            "The most load that passes: rate=1 (510 IOPS). rate=2 does not: That is why."
        );
        assert_eq!(
            most_load(Some(&best), Some(&doubtful)),
            "The most load that is known to pass: rate=1 (510 IOPS). The answer depends on rate=2, \
             which could not be judged: That is why."
        );
        assert_eq!(
            most_load(None, Some(&doubtful)),
            "No tested load is known to pass. The answer depends on rate=2, which could not be \
             judged: That is why."
        );
        assert_eq!(
            least_flash(Some(&best), Some(&doubtful), |_| None),
            "The least flash with which this load is known to pass: rate=1. The answer depends on \
             rate=2, which could not be judged: That is why."
        );
    }

    #[test]
    fn rates_rise_in_small_steps() {
        let rates: Vec<f64> = rates()
            .iter()
            .map(|rate| rate.number().expect("a rate"))
            .collect();
        assert_eq!(rates[0], RATES.0);
        assert!(
            rates
                .windows(2)
                .all(|pair| (1.03..1.07).contains(&(pair[1] / pair[0])))
        );
        assert!(rates.last() > Some(&950_000.0));
    }

    #[test]
    fn a_range_of_ones_own_is_searched_and_the_rest_is_varied() {
        let axis = |key: &str| Axis::new(key, [1]);
        let given = vec![axis("array"), axis("threads")];
        let (searched, was_given, others) = axes(Find::MaxIops, LoadAxis::Rate, given.clone());
        assert_eq!(
            (searched.key.to_string().as_str(), was_given, others.len()),
            ("threads", true, 1)
        );
        let (searched, was_given, others) = axes(Find::MinFlash, LoadAxis::Rate, given);
        assert_eq!(
            (searched.key.to_string().as_str(), was_given, others.len()),
            (SSD_COUNT, false, 2)
        );
        let (searched, was_given, _) =
            axes(Find::MaxIops, brokerage::WORKLOAD.load_axis(), Vec::new());
        assert_eq!(
            (searched.key.to_string().as_str(), was_given),
            ("brokerage.users", false)
        );
        assert_eq!(searched.entry().values[..4], ["1", "2", "3", "4"]);
        assert!(searched.values.len() > 60, "{:?}", searched.values);
    }
}
