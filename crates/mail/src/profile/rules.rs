//! Rules between settings of a mail profile that are each right by themselves.

use super::MailProfile;
use config::ByteSize;
use workload::profile::{Rule, common_rules};

/// Every rule that the profile breaks.
pub(super) fn broken(profile: &MailProfile) -> Vec<Rule> {
    let mut broken = common_rules(&profile.service_levels, &profile.run);
    mail(profile, &mut broken);
    pages(profile, &mut broken);
    log(profile, &mut broken);
    tuning(profile, &mut broken);
    broken
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
    if mail.threads.is_none() && profile.rate_to_reach() <= 0.0 {
        broken.push(Rule {
            paths: &["mail.iops_per_mailbox", "mail.threads"],
            message: "threads = \"auto\" has no rate to tune towards".to_owned(),
            help: "give mail.iops_per_mailbox a rate above 0, or mail.threads a number".to_owned(),
        });
    }
}

fn pages(profile: &MailProfile, broken: &mut Vec<Rule>) {
    let engine = &profile.engine;
    let page = engine.page_size;
    if !page.bytes().is_power_of_two() {
        broken.push(Rule {
            paths: &["engine.page_size"],
            message: format!("{page} is not a page size"),
            help: "write \"4KiB\", \"8KiB\", \"16KiB\" or \"32KiB\"".to_owned(),
        });
        return;
    }
    let coalesced: [(&'static [&'static str], ByteSize, bool); 4] = [
        (
            &["engine.max_coalesced_read", "engine.page_size"],
            engine.max_coalesced_read,
            true,
        ),
        (
            &["engine.max_coalesced_write", "engine.page_size"],
            engine.max_coalesced_write,
            true,
        ),
        (
            &["engine.coalesce_read_gap", "engine.page_size"],
            engine.coalesce_read_gap,
            false,
        ),
        (
            &["engine.coalesce_write_gap", "engine.page_size"],
            engine.coalesce_write_gap,
            false,
        ),
    ];
    for (paths, size, one_at_least) in coalesced {
        let too_small = one_at_least && size < page;
        if too_small || !size.bytes().is_multiple_of(page.bytes()) {
            broken.push(Rule {
                paths,
                message: format!("{} = {size} is not a number of pages of {page}", paths[0]),
                help: format!(
                    "write a multiple of {page}, such as \"{}\"",
                    whole_pages(size, page)
                ),
            });
        }
    }
    let pages = engine.cache_size_per_database.bytes() / page.bytes();
    if pages < LEAST_CACHE_PAGES {
        broken.push(Rule {
            paths: &["engine.cache_size_per_database", "engine.page_size"],
            message: format!("a cache of {pages} pages is too small for the engine to work"),
            help: format!(
                "write \"{}\" or more",
                ByteSize(LEAST_CACHE_PAGES * page.bytes())
            ),
        });
    }
    if engine.start_flush_percent >= engine.stop_flush_percent {
        broken.push(Rule {
            paths: &["engine.start_flush_percent", "engine.stop_flush_percent"],
            message: "eviction would stop before it starts".to_owned(),
            help: "make engine.stop_flush_percent larger than engine.start_flush_percent"
                .to_owned(),
        });
    }
}

/// Sessions pin a handful of pages each while they wait, and eviction needs pages to choose from.
const LEAST_CACHE_PAGES: u64 = 256;

/// The smallest number of whole pages, one at least, that holds `size`.
fn whole_pages(size: ByteSize, page: ByteSize) -> ByteSize {
    ByteSize(size.bytes().max(1).next_multiple_of(page.bytes()))
}

/// Log files are written in segments of 4 KiB and pre-filled in larger pieces.
const LOG_SEGMENT: u64 = 4096;

fn log(profile: &MailProfile, broken: &mut Vec<Rule>) {
    let engine = &profile.engine;
    for (paths, size) in [
        (
            &["engine.log_file_size"] as &'static [&'static str],
            engine.log_file_size,
        ),
        (&["engine.log_buffer"], engine.log_buffer),
    ] {
        if !size.bytes().is_multiple_of(LOG_SEGMENT) {
            let right = ByteSize(size.bytes().next_multiple_of(LOG_SEGMENT));
            broken.push(Rule {
                paths,
                message: format!(
                    "{} = {size} is not a whole number of 4 KiB segments",
                    paths[0]
                ),
                help: format!("write a multiple of 4KiB, such as \"{right}\""),
            });
        }
    }
    if engine.checkpoint_depth < engine.log_file_size {
        broken.push(Rule {
            paths: &["engine.checkpoint_depth", "engine.log_file_size"],
            message: format!(
                "a checkpoint depth of {} is less than one log file of {}",
                engine.checkpoint_depth, engine.log_file_size
            ),
            help: "make engine.checkpoint_depth a few log files deep at least".to_owned(),
        });
    }
}

fn tuning(profile: &MailProfile, broken: &mut Vec<Rule>) {
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
