//! The mail store: a transactional engine in the ESE database format.
