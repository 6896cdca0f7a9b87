//! `proofload witness`: keeps what runs on other machines acknowledge.

use proofload::storage_run::witness_refusal;
use witness::{Secret, Server};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::WitnessServerOptions;
use crate::print::notify;

/// Listens until it is interrupted.
pub fn witness(options: &WitnessServerOptions) -> Result<ExitStatus, CommandError> {
    let refused = |error| CommandError::from(witness_refusal(&error));
    let secret = Secret::read(&options.secret_file).map_err(refused)?;
    let server = Server::bind(&options.listen, secret, &options.directory, notify);
    let server = server.map_err(refused)?;
    let address = server.address().map_err(|error| {
        CommandError::environment(format!("The address is not known: {error}."), "")
    })?;
    let directory = options.directory.display();
    notify(&format!(
        "Listening at {address}; records go to {directory}."
    ));
    server.serve()
}
