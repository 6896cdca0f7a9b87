//! `proofload audit`: what of that which a run had acknowledged has survived a power cut or a kill.

use proofload::WORKLOADS;
use proofload::audit::AuditRequest;

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::AuditOptions;
use crate::print::notify;

/// Recovers the databases of a run and prints what is lost.
pub fn audit(options: &AuditOptions) -> Result<ExitStatus, CommandError> {
    let request = AuditRequest {
        directory: options.run.clone(),
        witness: options.witness()?,
        database: options.database.clone(),
    };
    let report = proofload::audit::audit(&request, &WORKLOADS, &mut |doing| notify(doing))?;
    let text = match options.json {
        true => format!("{:#}\n", report.json()),
        false => report.to_string(),
    };
    print_answer(&text, ExitStatus::from(report.verdict()))
}
