//! The tests of this crate in one program, so that what they have in common is compiled once.

mod commit_unknown;
mod common;
mod consistency;
mod data_integrity;
mod data_set;
mod deterministic;
mod encryption;
mod foreign_servers;
mod mariadb;
mod postgres;
mod simulation;
mod sqlite;
