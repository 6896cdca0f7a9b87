//! The command line of Proofload.

fn main() {}
