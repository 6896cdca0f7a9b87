//! A run of databases of our own on directories or block devices: takes them, runs, gives them back.

use jiff::Timestamp;
use measure::host::HostMonitor;
use measure::result::{PhaseResult, RunResult, Verdict};
use measure::run_directory::RunDirectory;
use std::path::{Path, PathBuf};
use storage::{Claim, CopyRequest, Layout, Request};
use witness::Sender;
use workload::Profile;
use workload::controller::RunListener;
use workload::progress::StopRequest;

use super::places::io_driver;
use super::same_storage::refuse_other_storage;
use super::{DeviceWatch, Places, RunRequest, Witnessed, base, warn_of_left_files};
use crate::conclude;
use crate::error::Error;
use crate::events::Observer;
use crate::options::RunOptions;
use crate::outcome::Outcome;
use crate::recorder::Recorder;
use crate::results;

/// A run on directories or block devices that can begin.
#[derive(Debug)]
pub struct TargetRun {
    request: RunRequest,
    options: RunOptions,
    targets: Targets,
    /// Where copies of the databases will go that a backup makes.
    copies: Option<Layout>,
    /// The copies that are to be restored.
    sources: Option<Claim>,
    /// Where their passive copies will be.
    passive_copies: Option<Layout>,
}

/// Where a run works.
#[derive(Debug)]
enum Targets {
    /// On targets that it will take.
    New(Layout),
    /// On databases that an earlier run kept, which it has taken over before it looked at them.
    Kept(Claim),
}

/// What a workload gets to run with.
pub struct Begun<'a> {
    /// Where its databases are.
    pub places: Places,
    /// Where copies of them go, if a backup makes some.
    pub copies: Option<Places>,
    /// Where the copies are that come in their places, if some do.
    pub sources: Option<Places>,
    /// Where their passive copies are, if there are any.
    pub passive_copies: Option<Places>,
    /// What is known before the run.
    pub base: RunResult,
    /// Samples the counters of the host and its devices.
    pub monitor: HostMonitor,
    /// By which somebody asks the run to end.
    pub stop: StopRequest,
    /// Takes what the databases acknowledge, if there is a witness.
    pub witness: Option<Sender>,
    /// Is notified of all that happens.
    pub listener: &'a mut dyn RunListener,
}

/// What is known of the databases when a run has ended.
pub struct Afterwards<'a> {
    /// How databases that are kept after an error can be looked at.
    pub examined_by: &'a str,
    /// Whether a run that was stopped in its measured phase can go on.
    pub can_resume: bool,
    /// What was left unfinished.
    pub unfinished: &'a dyn Fn() -> Option<Unfinished>,
    /// What keeps a run from going on with kept databases, and the remedy, as a part of a sentence.
    pub hindrance: &'a dyn Fn() -> Option<String>,
}

/// What was interrupted before all databases were complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Their build, which can go on.
    Build,
    /// Putting copies in their places, which must be done again.
    Restore,
}

impl TargetRun {
    /// Checks everything that a run needs of its targets. Writes nothing.
    ///
    /// # Errors
    /// The first thing that is in the way.
    pub fn prepare(
        request: &RunRequest,
        options: &RunOptions,
        profile: &dyn Profile,
    ) -> Result<Self, Error> {
        let layout = storage::survey(
            &Request {
                on: &options.on,
                log_on: &options.log_on,
                profile,
                reuse: options.reuse,
                erase_device: options.erase_device,
            },
            &mut |text| options.notify(text),
        )?;
        base::refuse_on_target(&request.output, &layout)?;
        base::refuse_caches_above_memory(profile)?;
        if let Some(run) = &options.resume {
            refuse_other_storage(&run.result, &layout)?;
        }
        let mut layouts = vec![layout.clone()];
        let mut survey = |paths: &[PathBuf], option| {
            if paths.is_empty() {
                return Ok(None);
            }
            let asked_for = CopyRequest {
                paths,
                option,
                beside: &layouts,
            };
            let notify = &mut |text: &str| options.notify(text);
            let copies = storage::survey_copies(&asked_for, profile, notify)?;
            base::refuse_on_target(&request.output, &copies)?;
            layouts.push(copies.clone());
            Ok::<_, Error>(Some(copies))
        };
        let copies = survey(options.backup_to.as_slice(), "--backup-to")?;
        let passive_copies = survey(&options.copy_to, "--copy-to")?;
        let sources = match &options.restore {
            Some(path) => {
                let mut notify = |text: &str| options.notify(text);
                let sources = storage::survey_sources(path, profile, &layouts, &mut notify)?;
                base::refuse_on_target(&request.output, &sources)?;
                Some(Claim::reuse(sources, profile.workload())?)
            }
            None => None,
        };
        if options.resume.is_none() {
            results::check(&request.output)?;
        }
        let targets = match options.reuse {
            true => {
                io_driver(profile.run().io_driver)?;
                Targets::Kept(Claim::reuse(layout, profile.workload())?)
            }
            false => Targets::New(layout),
        };
        Ok(Self {
            request: request.clone(),
            options: options.clone(),
            targets,
            copies,
            sources,
            passive_copies,
        })
    }

    /// What the run is asked for.
    #[must_use]
    pub fn request(&self) -> &RunRequest {
        &self.request
    }

    /// How it is run.
    #[must_use]
    pub fn options(&self) -> &RunOptions {
        &self.options
    }

    /// Which database and log lies on which target.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        match &self.targets {
            Targets::New(layout) => layout,
            Targets::Kept(claim) => claim.layout(),
        }
    }

    /// The databases that an earlier run kept.
    #[must_use]
    pub fn kept(&self) -> Option<&Claim> {
        match &self.targets {
            Targets::New(_) => None,
            Targets::Kept(claim) => Some(claim),
        }
    }

    /// The copies that are to be restored.
    #[must_use]
    pub fn sources(&self) -> Option<&Claim> {
        self.sources.as_ref()
    }

    /// Takes the targets, runs, writes the results and gives the targets back.
    ///
    /// # Errors
    /// When the storage cannot be prepared or the results cannot be written.
    pub fn run(
        self,
        profile: &dyn Profile,
        observer: Box<dyn Observer>,
        stop: &StopRequest,
        afterwards: &Afterwards<'_>,
        run: impl FnOnce(Begun<'_>) -> RunResult,
    ) -> Result<Outcome, Error> {
        let io_driver = io_driver(profile.run().io_driver)?;
        let witnessed = Witnessed::begin(&self.options)?;
        let started = Timestamp::now();
        let mut begun = base::base(
            &self.request,
            &self.options,
            profile,
            self.layout(),
            started,
        );
        if let Some(run) = &self.options.resume {
            begun = base::resumed(begun, run, started);
        }
        let directory = match &self.options.resume {
            Some(run) => Some(results::resume(run, &begun)?),
            None => results::open(
                &self.request.output,
                &self.request.name,
                started,
                &base::config_of_run(profile),
                Some(profile.run()),
            )?,
        };
        begun.host.io_driver = io_driver.driver.id().to_owned();
        begun.host.io_driver_reason = io_driver.fallback_reason;
        witnessed.enter(&mut begun);
        if self.options.resume.is_none() {
            results::begin(directory.as_ref(), &begun)?;
        }
        let options = self.options;
        let claim = match self.targets {
            Targets::Kept(claim) => claim,
            Targets::New(layout) => {
                let name = &begun.workload.name;
                let made = Claim::make(layout, name, profile, options.erase_device);
                made.inspect_err(|_| discard(directory.as_ref()))?
            }
        };
        let mut taken = Vec::new();
        for layout in [self.copies, self.passive_copies] {
            let made = layout.map(|layout| {
                let name = &begun.workload.name;
                Claim::make(layout, name, profile, false)
            });
            match made.transpose() {
                Ok(made) => taken.push(made),
                Err(refusal) => {
                    // Nothing was built yet.
                    if !options.reuse {
                        taken.push(Some(claim));
                    }
                    for claim in taken.into_iter().flatten() {
                        let _ = claim.release();
                    }
                    if options.resume.is_none() {
                        discard(directory.as_ref());
                    }
                    return Err(refusal.into());
                }
            }
        }
        let places = |number: usize| {
            let claim: Option<&Claim> = taken[number].as_ref();
            claim.map(|claim| Places::of(claim, true))
        };
        let fallbacks = base::fallbacks(Some(claim.layout()));
        let recorder = Recorder::new(observer, directory, stop.clone());
        let mut recorder = recorder.with_fallbacks(fallbacks);
        let devices = begun.host.devices.iter();
        let monitor = HostMonitor::new(devices.map(|device| device.name.clone()));
        let watch = DeviceWatch::begin(&begun);
        let mut result = run(Begun {
            places: Places::of(&claim, !options.reuse),
            copies: places(0),
            sources: self
                .sources
                .as_ref()
                .map(|sources| Places::of(sources, false)),
            passive_copies: places(1),
            base: begun,
            monitor,
            stop: stop.clone(),
            witness: witnessed.sender(),
            listener: &mut recorder,
        });
        witnessed.finish(&mut result);
        watch.finish(&mut result);
        conclude(&mut result, profile);
        let (mut observer, recorded) = recorder.finish(&mut result);
        let directory = recorded.directory.as_deref();
        let directory = directory.filter(|_| afterwards.can_resume && is_resumable(&result));
        let mut kept = release(
            &options,
            claim,
            &result,
            (afterwards, directory),
            &mut *observer,
        );
        for claim in taken.into_iter().flatten() {
            let copies = release_copies(&options, claim, &result, &mut *observer);
            kept = kept.and_then(|kept| Ok(format!("{kept} {}", copies?)));
        }
        Ok(super::outcome(result, recorded, kept))
    }
}

/// Empties the directory of a run that cannot begin, so that the same command is not refused because of it.
fn discard(directory: Option<&RunDirectory>) {
    if let Some(directory) = directory {
        directory.discard();
    }
}

/// Whether a run was stopped in its measured phase, or later, so that it can go on.
fn is_resumable(result: &RunResult) -> bool {
    let is_apart = result.witness.is_none() && result.replication.is_none();
    result.verdict == Verdict::Interrupted && result.duration_s > 0.0 && is_apart
}

/// Gives the targets back, and says in a sentence whether the databases are still there. They stay
/// when they were to be kept, when an earlier run kept them, when something went wrong, and when their build
/// was interrupted: it can go on.
fn release(
    options: &RunOptions,
    claim: Claim,
    result: &RunResult,
    (afterwards, resumable): (&Afterwards<'_>, Option<&Path>),
    observer: &mut dyn Observer,
) -> Result<String, Error> {
    let went_wrong = result.verdict == Verdict::Error;
    let interrupted = result.verdict == Verdict::Interrupted;
    // Where the databases were open once, what is missing of them was not left unbuilt.
    let is_built = result.phases.iter().any(PhaseResult::needs_built_databases);
    let unfinished = ((interrupted || went_wrong) && !is_built).then(afterwards.unfinished);
    let unfinished = unfinished.flatten();
    let places = places(claim.layout());
    let asked_to_keep = options.keep || options.reuse || options.build_only;
    if asked_to_keep || went_wrong || unfinished.is_some() {
        let fixed = if went_wrong {
            "once the cause is fixed, "
        } else {
            ""
        };
        let next = match unfinished {
            Some(Unfinished::Restore) => {
                format!("{fixed}restore them again with --restore; in part they are of no use")
            }
            Some(Unfinished::Build) => format!("{fixed}the same command goes on with their build"),
            None if went_wrong => {
                format!("{fixed}--reuse recovers them; {}", afterwards.examined_by)
            }
            None if options.resume.is_some() && result.verdict != Verdict::Interrupted => {
                "a run that has gone on removes nothing, also without --keep; run on them again with --reuse"
                    .to_owned()
            }
            None => match resumable {
                Some(directory) => format!(
                    "go on with this run with --resume {}, or begin another with --reuse",
                    directory.display()
                ),
                None => "run on them again with --reuse".to_owned(),
            },
        };
        let moved = claim.moved();
        if !moved.is_empty() {
            return Ok(moved_text(&moved));
        }
        let unmarked = claim.unmarked();
        if !unmarked.is_empty() {
            return Ok(unmarked_text(&places, &unmarked));
        }
        if let Some(hindrance) = (afterwards.hindrance)() {
            return Ok(format!("Databases kept in {places}, but {hindrance}."));
        }
        return Ok(format!("Databases kept in {places}: {next}."));
    }
    let left = claim.release()?;
    warn_of_left_files(&left, observer);
    if !left.is_empty() {
        return Ok(format!(
            "Databases removed from {places}, except what is not as the run made it."
        ));
    }
    Ok(format!(
        "Databases removed from {places}; --keep keeps them for the next run."
    ))
}

/// Gives the directory of the copies back, and says in a sentence whether they are still there. They stay
/// when they were to be kept, and when something went wrong.
fn release_copies(
    options: &RunOptions,
    claim: Claim,
    result: &RunResult,
    observer: &mut dyn Observer,
) -> Result<String, Error> {
    let places = places(claim.layout());
    if options.keep || result.verdict == Verdict::Error {
        return Ok(format!("Copies kept in {places}."));
    }
    let left = claim.release()?;
    warn_of_left_files(&left, observer);
    Ok(match left.is_empty() {
        true => format!("Copies removed from {places}."),
        false => format!("Copies removed from {places}, except what is not as the run made it."),
    })
}

/// What is said of kept databases that nothing can be run on, because somebody has removed or changed the
/// markers at `unmarked` meanwhile.
fn unmarked_text(places: &str, unmarked: &[PathBuf]) -> String {
    let markers: Vec<String> = unmarked
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    format!(
        "Databases kept in {places}, but {} was removed or changed during the run: without it they are not \
         known as those of Proofload, and --reuse refuses them. Bring it back, or remove them by hand.",
        markers.join(", ")
    )
}

/// What is said of kept databases that are not where they were.
fn moved_text(moved: &[PathBuf]) -> String {
    let moved: Vec<String> = moved
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    format!(
        "The databases of this run are kept, but not in their places: {} moved or replaced while it lasted, and what \
         lies there now was not tested. Bring them back before you run on them again.",
        match moved.as_slice() {
            [one] => format!("{one} was"),
            several => format!("{} were", several.join(", ")),
        }
    )
}

/// The targets that hold databases or logs, as they were given.
fn places(layout: &Layout) -> String {
    let given = layout.targets.iter();
    let given: Vec<String> = given.map(|site| site.given.display().to_string()).collect();
    given.join(", ")
}
