//! Rules between settings of a brokerage that are each right by themselves.

use super::BrokerageProfile;
use config::ByteSize;
use workload::profile::{IoDriverChoice, Rule, Run, common_rules};

/// Clients pin a handful of pages each while they wait, and eviction needs pages to choose from.
const LEAST_CACHE_PAGES: u64 = 256;

/// Every rule that the profile breaks.
pub(super) fn broken(profile: &BrokerageProfile) -> Vec<Rule> {
    let mut broken = common_rules(&profile.service_levels, &profile.run);
    data_set(profile, &mut broken);
    if profile.run.verify_after_run {
        broken.push(Rule {
            paths: &["run.verify_after_run"],
            message: "the pages of a database server cannot be verified after the run".to_owned(),
            help: "write false: the server verifies its pages itself when it reads them".to_owned(),
        });
    }
    if profile.run.stop_after_errors != Run::default().stop_after_errors {
        broken.push(Rule {
            paths: &["run.stop_after_errors"],
            message: "a run on a database server ends at its first error".to_owned(),
            help: "omit it, and --continue-on-errors too".to_owned(),
        });
    }
    if profile.run.hung_request_after != Run::default().hung_request_after {
        broken.push(Rule {
            paths: &["run.hung_request_after"],
            message: "the requests of a database server are its own: nobody sees one that hangs"
                .to_owned(),
            help: "omit it".to_owned(),
        });
    }
    if profile.run.io_driver != IoDriverChoice::Auto {
        broken.push(Rule {
            paths: &["run.io_driver"],
            message: "the requests of a database server are its own, whatever the I/O driver here"
                .to_owned(),
            help: "omit it, or see the server's own settings, such as io_method".to_owned(),
        });
    }
    broken
}

fn data_set(profile: &BrokerageProfile, broken: &mut Vec<Rule>) {
    let brokerage = &profile.brokerage;
    let mix = &brokerage.mix;
    let total = mix.shares().iter().map(|(_, share)| share).sum::<f64>();
    if total <= 0.0 {
        broken.push(Rule {
            paths: &["brokerage.mix.trade_status_percent"],
            message: "the users do nothing: every share of the mix is 0".to_owned(),
            help: "give one transaction of [brokerage.mix] a share at least".to_owned(),
        });
    }
    let database = &brokerage.database;
    let page = database.page_size;
    if !page.bytes().is_power_of_two() {
        broken.push(Rule {
            paths: &["brokerage.database.page_size"],
            message: format!("{page} is not a page size"),
            help: "write \"4KiB\", \"8KiB\", \"16KiB\" or \"32KiB\"".to_owned(),
        });
        return;
    }
    let largest = database.largest_request.bytes();
    if largest < page.bytes() || !largest.is_multiple_of(page.bytes()) {
        let right = ByteSize(largest.max(1).next_multiple_of(page.bytes()));
        broken.push(Rule {
            paths: &["brokerage.database.largest_request"],
            message: format!(
                "a request of {} is not a number of pages of {page}",
                database.largest_request
            ),
            help: format!("write a multiple of {page}, such as \"{right}\""),
        });
    }
    if database.memory.bytes() / page.bytes() < LEAST_CACHE_PAGES {
        broken.push(Rule {
            paths: &["brokerage.database.memory", "brokerage.database.page_size"],
            message: format!("memory of {} is too small to work in", database.memory),
            help: format!(
                "write \"{}\" or more",
                ByteSize(LEAST_CACHE_PAGES * page.bytes())
            ),
        });
    }
    log(profile, broken);
    if let Some(customers) = brokerage.customers.filter(|n| !n.is_multiple_of(1_000)) {
        broken.push(Rule {
            paths: &["brokerage.customers"],
            message: format!("{customers} customers are not whole thousands"),
            help: format!("write {}", customers.next_multiple_of(1_000)),
        });
    }
}

fn log(profile: &BrokerageProfile, broken: &mut Vec<Rule>) {
    let database = &profile.brokerage.database;
    let log = database.log_file_size;
    if !log.bytes().is_multiple_of(4096) {
        broken.push(Rule {
            paths: &["brokerage.database.log_file_size"],
            message: format!("{log} is not a whole number of 4 KiB segments"),
            help: "write a multiple of 4KiB, such as \"16MiB\"".to_owned(),
        });
    }
    if database.checkpoint_depth < log {
        broken.push(Rule {
            paths: &[
                "brokerage.database.checkpoint_depth",
                "brokerage.database.log_file_size",
            ],
            message: format!(
                "a checkpoint depth of {} is less than one log file of {log}",
                database.checkpoint_depth
            ),
            help: "make brokerage.database.checkpoint_depth a few log files deep".to_owned(),
        });
    }
}
