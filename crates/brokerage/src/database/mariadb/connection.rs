//! A session over the wire protocol.

use std::time::Duration;

use runtime::thread::complete;
use rustc_hash::FxHashMap;

use super::failure::failure;
use super::wire::{Reader, Wire};
use super::{encode, startup};
use crate::database::call::{self, invalid_call};
use crate::database::render::render;
use crate::database::target::Address;
use crate::database::text_rows::TextRows;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::session::{AfterBatch, Answering, Call, Isolation, Session};
use crate::statement::{Dialect, Statement};

/// Commands of the protocol.
const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;

/// Status flag: another result set follows.
const MORE_ANSWERS: u64 = 0x0008;

/// First bytes of packets.
const OK: u8 = 0x00;
const END: u8 = 0xfe;
const ERROR: u8 = 0xff;

/// NULL in place of a text's length.
const NOTHING: u8 = 0xfb;

/// Longest EOF packet; longer packets with the same first byte are rows.
const LONGEST_END: usize = 8;

/// A prepared statement of the server.
struct Prepared {
    number: u32,
    places: Vec<usize>,
}

/// A connection to a MariaDB or MySQL server.
pub struct Connection {
    wire: Wire,
    version: String,
    prepared: FxHashMap<&'static str, Prepared>,
    started: Option<Isolation>,
    is_open: bool,
    is_lost: bool,
    /// Whether the answer to a rollback is pending that nobody has waited for.
    awaits_rollback: bool,
    answers: Answers,
}

/// The end of a result set.
struct Ending {
    changed: u64,
    has_more: bool,
}

impl Connection {
    /// Connects to a server, and to a database of it if one is named.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    pub fn open(
        address: &Address,
        database: Option<&str>,
        timeout: Duration,
    ) -> Result<Self, DatabaseError> {
        let (wire, version) = startup::connect(address, database, timeout)?;
        let mut connection = Self {
            wire,
            version,
            prepared: FxHashMap::default(),
            started: None,
            is_open: false,
            is_lost: false,
            awaits_rollback: false,
            answers: Answers::default(),
        };
        // Texts are compared bytewise and stored unchanged; what does not fit is an error; ||
        // concatenates.
        let settings = format!(
            "SET NAMES utf8mb4 COLLATE {}; SET SESSION sql_mode = \
             'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT,\
             ANSI_QUOTES'",
            connection.collation()
        );
        connection.ask(&settings)?;
        let no_limit = match connection.is_mariadb() {
            true => "max_statement_time",
            false => "max_execution_time",
        };
        // Time limits that the server or the user may have set otherwise.
        connection.ask(&format!(
            "SET SESSION {no_limit} = 0; SET SESSION innodb_lock_wait_timeout = 50; \
             SET SESSION wait_timeout = 28800"
        ))?;
        Ok(connection)
    }

    /// The server's version string, such as "10.11.19-MariaDB-0+deb12u1".
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether it is MariaDB rather than MySQL.
    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        self.version.contains("MariaDB")
    }

    /// The bytewise collation in which trailing spaces count.
    pub(super) fn collation(&self) -> &'static str {
        if self.is_mariadb() {
            "utf8mb4_nopad_bin"
        } else {
            "utf8mb4_0900_bin"
        }
    }

    /// What the connection is, and how it is encrypted.
    #[must_use]
    pub fn describe(&self) -> String {
        self.wire.describe()
    }

    /// Timeout for an answer, after which the server counts as gone; none with `None`.
    ///
    /// # Errors
    /// The system refused it.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), DatabaseError> {
        self.wire.set_timeout(timeout)
    }

    /// Executes statements outside of a transaction, and returns the rows of all of them as text.
    ///
    /// # Errors
    /// The first that failed.
    pub fn ask(&mut self, sql: &str) -> Result<TextRows, DatabaseError> {
        complete(self.say(sql))
    }

    /// As [`ask`](Self::ask); other tasks may run meanwhile.
    async fn say(&mut self, sql: &str) -> Result<TextRows, DatabaseError> {
        let packet = self.wire.packet();
        packet.push(QUERY);
        packet.extend_from_slice(sql.as_bytes());
        self.answer_texts(sql).await
    }

    /// Executes one statement without rows.
    pub(super) fn run_step(&mut self, sql: &[u8], what: &str) -> Result<(), DatabaseError> {
        let packet = self.wire.packet();
        packet.push(QUERY);
        packet.extend_from_slice(sql);
        complete(self.answer_texts(what)).map(drop)
    }

    async fn answer_texts(&mut self, what: &str) -> Result<TextRows, DatabaseError> {
        let end = what
            .char_indices()
            .nth(60)
            .map_or(what.len(), |(end, _)| end);
        let what = &what[..end];
        self.command().await?;
        let mut rows = Vec::new();
        loop {
            let columns = self.receive(what).await?;
            let mut ending = None;
            if columns.first() == Some(&OK) {
                ending = Some(ok(&columns));
            } else {
                let count = Reader::new(&columns).counted();
                self.skip_to_end(what, count).await?;
            }
            let ending = loop {
                if let Some(ending) = ending {
                    break ending;
                }
                let packet = self.receive(what).await?;
                if is_end(&packet) {
                    break end_of_rows(&packet);
                }
                rows.push(text_row(&packet));
            };
            if !ending.has_more {
                return Ok(rows);
            }
        }
    }

    /// Reads this many column descriptions and the end after them.
    async fn skip_to_end(&mut self, what: &str, count: u64) -> Result<(), DatabaseError> {
        for _ in 0..=count {
            self.receive(what).await?;
        }
        Ok(())
    }

    async fn command(&mut self) -> Result<(), DatabaseError> {
        if self.is_lost {
            let before = "the connection was lost before";
            return Err(DatabaseError::unavailable(before));
        }
        if std::mem::take(&mut self.awaits_rollback) {
            let answer = self.wire.next_packet().await.map(drop);
            self.is_lost |= answer.is_err();
            answer?;
        }
        let sent = self.wire.command();
        if let Err(error) = sent {
            self.is_lost = true;
            // The server may have sent the reason before it closed the connection.
            return match self.wire.next_packet().await {
                Ok(packet) if packet.first() == Some(&ERROR) => Err(failure(packet, "a session")),
                _ => Err(error),
            };
        }
        Ok(())
    }

    /// The next packet, unless it is an error.
    async fn receive(&mut self, what: &str) -> Result<Vec<u8>, DatabaseError> {
        match self.wire.next_packet().await {
            Ok(packet) if packet.first() == Some(&ERROR) => {
                let failure = failure(packet, what);
                self.is_lost |= matches!(failure, DatabaseError::Unavailable { .. });
                Err(failure)
            }
            Ok(packet) => Ok(packet.to_vec()),
            Err(error) => {
                self.is_lost = true;
                Err(error)
            }
        }
    }

    async fn prepare(&mut self, statement: &'static Statement) -> Result<(), DatabaseError> {
        if self.prepared.contains_key(statement.name) {
            return Ok(());
        }
        let rendered = render(statement, Dialect::MariaDb);
        let packet = self.wire.packet();
        packet.push(PREPARE);
        packet.extend_from_slice(rendered.sql.as_bytes());
        self.command().await?;
        let answer = self.receive(statement.name).await?;
        let mut reader = Reader::new(&answer);
        reader.skip(1);
        let number = u32::try_from(reader.number(4)).unwrap_or_default();
        let columns = reader.number(2);
        let places = reader.number(2);
        for count in [places, columns] {
            if count > 0 {
                self.skip_to_end(statement.name, count).await?;
            }
        }
        if places != rendered.places.len() as u64 {
            return Err(invalid_call(
                statement,
                format!("it has {places} parameters"),
            ));
        }
        let prepared = Prepared {
            number,
            places: rendered.places,
        };
        self.prepared.insert(statement.name, prepared);
        Ok(())
    }

    async fn answer(&mut self, call: &Call) -> Result<(), DatabaseError> {
        let statement = call.statement;
        self.prepare(statement).await?;
        let Some(prepared) = self.prepared.get(statement.name) else {
            return Err(invalid_call(statement, "it is not prepared".to_owned()));
        };
        let (number, places) = (prepared.number, prepared.places.as_slice());
        encode::call(call, number, places, self.wire.packet());
        self.command().await?;
        let head = self.receive(statement.name).await?;
        if head.first() == Some(&OK) {
            self.answers.begin(0);
            self.answers.changed(ok(&head).changed);
            return Ok(());
        }
        let count = Reader::new(&head).counted();
        let mut types = Vec::new();
        for _ in 0..count {
            types.push(encode::column_type(&self.receive(statement.name).await?));
        }
        self.receive(statement.name).await?;
        let checked = encode::check_columns(statement, &types);
        self.answers.begin(types.len());
        loop {
            let packet = self.receive(statement.name).await?;
            if is_end(&packet) {
                return checked;
            }
            if checked.is_ok() {
                encode::row(&packet, &types, statement, &mut self.answers)?;
            }
        }
    }

    async fn batch(&mut self, calls: &[Call], then: AfterBatch) -> Result<(), DatabaseError> {
        calls.iter().try_for_each(call::check)?;
        self.answers.clear();
        if let Some(isolation) = self.started.take()
            && !calls.is_empty()
        {
            self.is_open = true;
            let begin = match isolation {
                Isolation::ReadCommitted => {
                    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION"
                }
                Isolation::RepeatableRead => {
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION"
                }
                Isolation::Serializable => {
                    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION"
                }
            };
            self.say(begin).await?;
        }
        for call in calls {
            self.answer(call).await?;
        }
        if then == AfterBatch::Commit && self.is_open {
            self.say("COMMIT").await?;
            self.is_open = false;
        }
        Ok(())
    }

    async fn roll_back(&mut self) -> Result<(), DatabaseError> {
        self.started = None;
        if std::mem::take(&mut self.is_open) && !self.is_lost {
            self.say("ROLLBACK").await?;
        }
        Ok(())
    }

    async fn run_now(
        &mut self,
        calls: &[Call],
        then: AfterBatch,
    ) -> Result<&Answers, DatabaseError> {
        if !self.is_open && self.started.is_none() {
            return Err(DatabaseError::failed("a batch", "no transaction is open"));
        }
        if calls.is_empty() && then == AfterBatch::Continue {
            self.answers.clear();
            return Ok(&self.answers);
        }
        let answered = self.batch(calls, then).await;
        if let Err(error) = answered {
            // A failure here has marked the connection as lost, which the next call reports.
            let _ = self.roll_back().await;
            return Err(error);
        }
        Ok(&self.answers)
    }
}

impl Session for Connection {
    fn share_thread(&mut self) {
        self.wire.share_thread();
    }

    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError> {
        if self.is_lost {
            let before = "the connection was lost before";
            return Err(DatabaseError::unavailable(before));
        }
        if self.is_open || self.started.is_some() {
            return Err(DatabaseError::failed(
                "a begin",
                "a transaction is open already",
            ));
        }
        self.started = Some(isolation);
        Ok(())
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: AfterBatch,
    ) -> Answering<'answering, &'session Answers> {
        Box::pin(self.run_now(calls, then))
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        Box::pin(self.roll_back())
    }

    fn abandon(&mut self) {
        self.started = None;
        if std::mem::take(&mut self.is_open) && !self.is_lost {
            let packet = self.wire.packet();
            packet.push(QUERY);
            packet.extend_from_slice(b"ROLLBACK");
            self.is_lost = self.wire.command().is_err();
            self.awaits_rollback = true;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_lost {
            self.wire.packet().push(QUIT);
            // The server notices a closed socket too; this is only the polite way.
            let _ = self.wire.command();
        }
    }
}

fn is_end(packet: &[u8]) -> bool {
    packet.first() == Some(&END) && packet.len() <= LONGEST_END
}

fn ok(packet: &[u8]) -> Ending {
    let mut reader = Reader::new(packet);
    reader.skip(1);
    let changed = reader.counted();
    // The insert id.
    reader.counted();
    Ending {
        changed,
        has_more: reader.number(2) & MORE_ANSWERS != 0,
    }
}

fn end_of_rows(packet: &[u8]) -> Ending {
    let mut reader = Reader::new(packet);
    // The marker byte, and the number of warnings.
    reader.skip(1 + 2);
    Ending {
        changed: 0,
        has_more: reader.number(2) & MORE_ANSWERS != 0,
    }
}

fn text_row(packet: &[u8]) -> Vec<Option<String>> {
    let mut reader = Reader::new(packet);
    let mut row = Vec::new();
    while !reader.is_empty() {
        if reader.rest().first() == Some(&NOTHING) {
            reader.skip(1);
            row.push(None);
        } else {
            let text = String::from_utf8_lossy(reader.counted_bytes());
            row.push(Some(text.into_owned()));
        }
    }
    row
}
