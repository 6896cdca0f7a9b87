//! Runs of the mail workload: databases of our own engine on directories or block devices.

use jiff::Timestamp;
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::result::{RunResult, Verdict};
use runtime::Runtime;
use storage::{Claim, Layout, Request};
use workload::Profile;
use workload::progress::StopRequest;

use super::{StorageRun, base, describe, drive, outcome, own, warn_of_left_files};
use crate::error::Error;
use crate::events::Observer;
use crate::options::RunOptions;
use crate::outcome::Outcome;
use crate::recorder::Recorder;
use crate::results;
use crate::storage_run::RunRequest;

/// A run on databases of the mail engine that can begin.
struct MailRun {
    request: RunRequest,
    options: RunOptions,
    profile: MailProfile,
    site: Site,
    plan: MailPlan,
}

/// Where a run works.
enum Site {
    /// On targets that it will take.
    New(Layout),
    /// On databases that an earlier run kept, which it has taken over before it looked at them.
    Kept(Claim),
}

impl Site {
    fn layout(&self) -> &Layout {
        match self {
            Self::New(layout) => layout,
            Self::Kept(claim) => claim.layout(),
        }
    }

    fn kept(&self) -> Option<&Claim> {
        match self {
            Self::New(_) => None,
            Self::Kept(claim) => Some(claim),
        }
    }
}

/// Checks everything that a run needs. Writes nothing.
///
/// # Errors
/// The first thing that is in the way.
pub fn prepare_mail(
    request: &RunRequest,
    options: &RunOptions,
    profile: &dyn Profile,
) -> Result<Box<dyn StorageRun>, Error> {
    let layout = storage::survey(&Request {
        on: &options.on,
        log_on: &options.log_on,
        profile,
        reuse: options.reuse,
        erase_device: options.erase_device,
    })?;
    base::refuse_on_target(&request.output, &layout)?;
    results::check(&request.output)?;
    let site = match options.reuse {
        true => {
            check_kernel()?;
            Site::Kept(Claim::reuse(layout, profile.workload())?)
        }
        false => Site::New(layout),
    };
    let profile: &MailProfile = own(profile)?;
    Ok(Box::new(MailRun {
        plan: drive::plan(options, profile, site.kept())?,
        request: request.clone(),
        options: options.clone(),
        profile: profile.clone(),
        site,
    }))
}

impl StorageRun for MailRun {
    fn describe(&self) -> Result<String, Error> {
        describe::describe(
            &self.request,
            &self.options,
            &self.profile,
            self.site.layout(),
            self.site.kept(),
        )
    }

    fn run(
        self: Box<Self>,
        observer: Box<dyn Observer>,
        stop: StopRequest,
    ) -> Result<Outcome, Error> {
        let Self {
            request,
            options,
            profile,
            site,
            plan,
        } = *self;
        check_kernel()?;
        let started = Timestamp::now();
        let directory = results::open(
            &request.output,
            &request.name,
            started,
            &base::config_of_run(&profile),
        )?;
        let begun = base::base(&request, &profile, site.layout(), started);
        results::begin(directory.as_ref(), &begun)?;
        let claim = match site {
            Site::Kept(claim) => claim,
            Site::New(layout) => {
                let name = &begun.workload.name;
                Claim::make(layout, name, &profile, options.erase_device)?
            }
        };
        let fallbacks = base::fallbacks(Some(claim.layout()));
        let recorder = Recorder::new(observer, directory, stop.clone()).with_fallbacks(fallbacks);
        let fresh = !options.reuse;
        let (mut observer, recorded, result) =
            drive::drive(plan, &claim, fresh, begun, recorder, stop);
        let kept = release(&options, claim, &result, &mut *observer);
        outcome(result, recorded, kept)
    }
}

/// The kernel must let us use io_uring; better said now than from every thread.
fn check_kernel() -> Result<(), Error> {
    Runtime::wall_clock(&runtime::UringOptions::default())
        .map(drop)
        .map_err(|error| Error::environment(format!("The run cannot begin: {error}."), ""))
}

/// Gives the targets back, and says in a sentence whether the databases are still there. They stay
/// when they were to be kept, when an earlier run kept them, and when something went wrong.
fn release(
    options: &RunOptions,
    claim: Claim,
    result: &RunResult,
    observer: &mut dyn Observer,
) -> Result<String, Error> {
    let went_wrong = result.verdict == Verdict::Error;
    let interrupted = result.verdict == Verdict::Interrupted;
    let built = options.build_only && !interrupted;
    let places = places(claim.layout());
    if options.keep || options.reuse || built || went_wrong {
        let next = match (went_wrong, interrupted && !options.reuse) {
            (true, _) => {
                "once the cause is fixed, --reuse recovers them; 'proofload edb check' examines \
                 closed ones"
            }
            (false, true) => "--reuse completes their build and runs on them",
            (false, false) => "run on them again with --reuse",
        };
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

/// The targets that hold databases or logs, as they were given.
fn places(layout: &Layout) -> String {
    let given: Vec<String> = layout
        .targets
        .iter()
        .map(|site| site.given.display().to_string())
        .collect();
    given.join(", ")
}
