//! Rules between settings of a mail profile that are each right by themselves.

use super::MailProfile;
use super::load::{MAILBOX_SIZES, MAILBOXES};
use super::storage_tests::TestSelection;
use config::Choice;
use measure::units;
use workload::profile::{FindLoad, Rule, common_rules};
use workload::{LoadOptions, Refusal};

/// Every rule that the profile breaks.
pub(super) fn broken(profile: &MailProfile) -> Vec<Rule> {
    let mut broken = common_rules(&profile.service_levels, &profile.run);
    mail(profile, &mut broken);
    load(profile, &mut broken);
    engine(profile, &mut broken);
    tuning(profile, &mut broken);
    broken
}

impl MailProfile {
    /// Whether no session runs in any of its tests: they are a backup of idle databases.
    #[must_use]
    pub fn is_without_load(&self) -> bool {
        self.test.kind == TestSelection::Backup && !self.backup.under_load
    }

    /// Refuses options of a load for tests that run none.
    ///
    /// # Errors
    /// The first of them that changes nothing.
    pub(crate) fn refuse_load_without_effect(
        &self,
        options: &LoadOptions<'_>,
    ) -> Result<(), Refusal> {
        let kind = self.test.kind;
        let name = kind.name();
        if options.has_duration && !kind.is_measured() {
            return Err(Refusal::usage(
                format!(
                    "--duration is the length of a measured phase, and --test {name} has none."
                ),
                "Omit --duration, or name --test performance, stress or all.",
            ));
        }
        if self.is_without_load() && (options.has_rate || options.has_threads) {
            return Err(Refusal::usage(
                "--rate, --rate-transactions and --threads say how much load there is, and this backup is made \
                 without any.",
                "Omit them, or make the backup under load with --set backup.under_load=true.",
            ));
        }
        Ok(())
    }

    /// Refuses sizes and numbers of mailboxes that no profile may have, and broken rules: what
    /// options have led to.
    ///
    /// # Errors
    /// The first of them.
    pub(crate) fn check_bounds(&self) -> Result<(), Refusal> {
        let mail = &self.mail;
        if !MAILBOXES.contains(&mail.mailboxes_per_database) {
            return Err(Refusal::usage(
                format!(
                    "{} mailboxes in one database are more than the {} that one may have.",
                    units::count_of(u64::from(mail.mailboxes_per_database)),
                    units::count_of(u64::from(*MAILBOXES.end()))
                ),
                "Give fewer with --mailboxes, or more databases with --databases.",
            ));
        }
        if !MAILBOX_SIZES.contains(&mail.mailbox_size) {
            return Err(Refusal::usage(
                format!(
                    "{} mailboxes would have {} each, and a mailbox has from {} to {}.",
                    units::count_of(mail.mailboxes()),
                    mail.mailbox_size,
                    MAILBOX_SIZES.start(),
                    MAILBOX_SIZES.end()
                ),
                "Give another number with --mailboxes, or another --target-size.",
            ));
        }
        let broken = broken(self).into_iter().next();
        broken.map_or(Ok(()), |rule| {
            Err(Refusal::usage(
                units::sentence(&format!("{}.", rule.message)),
                units::sentence(&format!("{}.", rule.help)),
            ))
        })
    }
}

fn mail(profile: &MailProfile, broken: &mut Vec<Rule>) {
    let mail = &profile.mail;
    let read = mail.mix.read_percent();
    if read < -1e-9 {
        broken.push(Rule {
            paths: &[
                "mail.mix.insert_percent",
                "mail.mix.delete_percent",
                "mail.mix.replace_percent",
                "mail.mix.scan_percent",
            ],
            message: format!(
                "insert, delete, replace and scan add up to {} percent",
                100.0 - read
            ),
            help: "lower them to 100 or less together; what they leave are reads".to_owned(),
        });
    }
    let item_bytes = u64::from(mail.item.short_bytes) + u64::from(mail.item.long_bytes);
    if mail.mailbox_size.bytes() < item_bytes {
        broken.push(Rule {
            paths: &[
                "mail.mailbox_size",
                "mail.item.long_bytes",
                "mail.item.short_bytes",
            ],
            message: format!(
                "a mailbox of {} does not hold one item of {item_bytes} bytes",
                mail.mailbox_size
            ),
            help: "make mail.mailbox_size larger or the item smaller".to_owned(),
        });
    }
    if !mail.item.indexed && mail.item.read_by_index_percent > 0.0 {
        broken.push(Rule {
            paths: &["mail.item.read_by_index_percent", "mail.item.indexed"],
            message: "reads cannot use an index that is not there".to_owned(),
            help: "write mail.item.read_by_index_percent = 0 or mail.item.indexed = true"
                .to_owned(),
        });
    }
    let has_load = mail.sessions().is_some() || profile.holds_rate();
    if !has_load && profile.rate_to_reach() <= 0.0 {
        broken.push(Rule {
            paths: &["mail.iops_per_mailbox", "mail.threads"],
            message: "threads = \"auto\" has no rate to tune towards".to_owned(),
            help: "give mail.iops_per_mailbox a rate above 0, or mail.threads a number".to_owned(),
        });
    }
}

/// What says how strong the load is, and how it is divided.
fn load(profile: &MailProfile, broken: &mut Vec<Rule>) {
    let mail = &profile.mail;
    let mut report = |is_broken: bool, paths, message: String, help: &str| {
        if is_broken {
            let help = help.to_owned();
            broken.push(Rule {
                paths,
                message,
                help,
            });
        }
    };
    report(
        mail.threads.is_some() && mail.threads_per_database.is_some(),
        &["mail.threads", "mail.threads_per_database"],
        "threads are given over all databases and for each one".to_owned(),
        "write mail.threads = \"auto\", or mail.threads_per_database = \"none\"",
    );
    let (weights, databases) = (mail.load_weights.len(), mail.databases as usize);
    report(
        weights > 0 && weights != databases,
        &["mail.load_weights", "mail.databases"],
        format!("there are {weights} weights for {databases} databases"),
        "write one weight for each database, in their order",
    );
    report(
        weights > 0 && mail.threads_per_database.is_some(),
        &["mail.load_weights", "mail.threads_per_database"],
        "sessions that keep to their database divide the load by their number alone".to_owned(),
        "write mail.threads_per_database = \"none\", or no weights",
    );
    report(
        mail.held_transactions_per_second.is_some() && profile.run.held_rate.is_some(),
        &["mail.held_transactions_per_second", "run.held_rate"],
        "a rate of transactions and a rate of I/O cannot both be held".to_owned(),
        "write \"none\" for one of them",
    );
    report(
        mail.held_transactions_per_second.is_some() && profile.tuning.find != FindLoad::None,
        &["mail.held_transactions_per_second", "tuning.find"],
        "a search varies the rate, and here one is given".to_owned(),
        "write mail.held_transactions_per_second = \"none\", or tuning.find = \"none\"",
    );
}

/// Sessions pin a handful of pages each while they wait, and eviction needs pages to choose from.
const FEWEST_CACHE_PAGES: u64 = 256;

fn engine(profile: &MailProfile, broken: &mut Vec<Rule>) {
    let rules = profile.engine.broken_rules(FEWEST_CACHE_PAGES).into_iter();
    broken.extend(rules.map(|rule| Rule {
        paths: rule.paths,
        message: rule.message,
        help: rule.help,
    }));
}

fn tuning(profile: &MailProfile, broken: &mut Vec<Rule>) {
    let has_base = profile.run.held_rate.is_some() || profile.tuning.find != FindLoad::None;
    if !profile.tuning.curve_percent.is_empty() && !has_base {
        broken.push(Rule {
            paths: &["tuning.curve_percent", "tuning.find", "run.held_rate"],
            message: "a curve over parts of a load needs a rate that they are parts of".to_owned(),
            help: "write tuning.find = \"max-iops\", or give run.held_rate a number".to_owned(),
        });
    }
    let maximum = profile.tuning.maximum_threads;
    let start = profile.tuning.start_threads;
    if let Some(start) = start.filter(|&start| start > maximum) {
        broken.push(Rule {
            paths: &["tuning.maximum_threads", "tuning.start_threads"],
            message: format!(
                "tuning would begin with {start} threads, above its maximum of {maximum}"
            ),
            help: format!(
                "write start_threads = \"auto\" or up to {maximum}, or raise \
                 tuning.maximum_threads"
            ),
        });
    }
}
