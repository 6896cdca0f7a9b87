//! `run --dry-run`: what would be built and where.

use workload::profile::Profile;

use crate::human;
use crate::target::Layout;

/// The plan as text.
pub fn describe(workload: &str, profile: &Profile, layout: &Layout) -> String {
    let mail = &profile.mail;
    let mut text = format!(
        "{workload}: {} of {} each, {} of {} per database\n",
        human::count(u64::from(mail.databases), "database"),
        human::size(mail.database_bytes()),
        human::count(u64::from(mail.mailboxes_per_database), "mailbox").replace("xs", "xes"),
        mail.mailbox_size,
    );
    for place in &layout.databases {
        text.push_str(&format!(
            "  {}: {}, log in {}\n",
            place.name,
            place.data.path().display(),
            place.log.path().display()
        ));
    }
    let load = match (profile.run.held_rate, mail.threads) {
        (Some(rate), _) => format!("{rate} IOPS held"),
        (None, Some(threads)) => human::count(u64::from(threads), "thread"),
        (None, None) => format!("as many threads as reach {:.2} IOPS", mail.target_iops()),
    };
    text.push_str(&format!(
        "Load: {load}, measured for {} in samples of {}\n",
        profile.run.duration, profile.run.sample_interval
    ));
    text
}
