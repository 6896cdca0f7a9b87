//! The handshake: which export a client uses, and how. Bytes come in and bytes go out; sockets are elsewhere.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::export::{Export, position};
use super::fields::Fields;
use super::options::{ALLOCATION, ContextQuery, ExportQuery};
use super::wire::{
    OPTION_MAGIC, OPTION_REPLY_MAGIC, SERVER_MAGIC, handshake_flag, info, option, option_reply,
};

/// What may come with an option: much more than a name and what is asked about it.
const MOST_OPTION_BYTES: u32 = 16 * 1024;
/// Bytes that follow size and flags of an export where a client has not asked to leave them out.
const PADDING_BYTES: usize = 124;
/// Number of the context `base:allocation`.
pub(super) const ALLOCATION_ID: u32 = 1;

/// What a client and the server have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    /// The export, by its place in the list.
    pub export: usize,
    /// Whether replies are structured.
    pub structured: bool,
    /// Whether the client may ask what has space.
    pub block_status: bool,
}

/// How it goes on after an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// With the next option.
    Continue,
    /// With an encrypted connection, and the next option there.
    StartTls,
    /// With requests.
    Use(Agreed),
    /// The connection ends.
    End,
}

/// Whether connections are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// The server has no certificate.
    Unavailable,
    /// Nothing is served before the client has asked for it.
    Required,
    /// It is.
    Active,
}

/// The state of a handshake.
#[derive(Debug)]
pub struct Handshake {
    exports: Arc<[Export]>,
    encryption: Encryption,
    pads: bool,
    structured: bool,
    /// The export for which the client has chosen `base:allocation`.
    allocation_of: Option<usize>,
}

impl Handshake {
    /// One that has not begun.
    #[must_use]
    pub fn new(exports: Arc<[Export]>, encryption: Encryption) -> Self {
        Self {
            exports,
            encryption,
            pads: true,
            structured: false,
            allocation_of: None,
        }
    }

    /// Greets a client and answers its options, until it uses an export or wants to encrypt.
    ///
    /// # Errors
    /// The connection does not work.
    pub fn begin(&mut self, stream: &mut (impl Read + Write)) -> io::Result<Step> {
        let flags = handshake_flag::FIXED_NEWSTYLE | handshake_flag::NO_ZEROES;
        let mut greeting = SERVER_MAGIC.to_be_bytes().to_vec();
        greeting.extend(OPTION_MAGIC.to_be_bytes());
        greeting.extend(flags.to_be_bytes());
        stream.write_all(&greeting)?;
        let mut client_flags = [0; 4];
        stream.read_exact(&mut client_flags)?;
        let client_flags = u32::from_be_bytes(client_flags);
        if client_flags & !u32::from(flags) != 0 {
            return Ok(Step::End);
        }
        self.pads = client_flags & u32::from(handshake_flag::NO_ZEROES) == 0;
        self.answer_options(stream)
    }

    /// Goes on with a connection that is encrypted now; what was agreed on before does not count.
    ///
    /// # Errors
    /// The connection does not work.
    pub fn go_on_encrypted(&mut self, stream: &mut (impl Read + Write)) -> io::Result<Step> {
        self.encryption = Encryption::Active;
        self.structured = false;
        self.allocation_of = None;
        self.answer_options(stream)
    }

    fn answer_options(&mut self, stream: &mut (impl Read + Write)) -> io::Result<Step> {
        loop {
            let mut header = [0; 16];
            stream.read_exact(&mut header)?;
            let Some((option, length)) = option_header(&header) else {
                return Ok(Step::End);
            };
            let mut data = vec![0; length];
            stream.read_exact(&mut data)?;
            let mut replies = Vec::new();
            let step = self.answer(option, &data, &mut replies);
            stream.write_all(&replies)?;
            if step != Step::Continue {
                return Ok(step);
            }
        }
    }

    fn answer(&mut self, option: u32, data: &[u8], replies: &mut Vec<u8>) -> Step {
        let mut reply = |kind, contents: &[u8]| push_reply(replies, option, kind, contents);
        let may_go_on = matches!(option, option::STARTTLS | option::ABORT);
        if self.encryption == Encryption::Required && !may_go_on {
            if option == option::EXPORT_NAME {
                return Step::End;
            }
            reply(option_reply::ERR_TLS_REQD, b"Encrypt the connection first.");
            return Step::Continue;
        }
        match option {
            option::EXPORT_NAME => return self.use_by_name(data, replies),
            option::INFO | option::GO => return self.describe(option, data, replies),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.choose_context(option, data, replies);
            }
            option::ABORT => {
                reply(option_reply::ACK, &[]);
                return Step::End;
            }
            option::LIST | option::STARTTLS | option::STRUCTURED_REPLY if !data.is_empty() => {
                reply(
                    option_reply::ERR_INVALID,
                    b"Nothing comes with that option.",
                );
            }
            option::LIST => {
                for export in self.exports.iter() {
                    let length = export.name.len() as u32;
                    let entry = [&length.to_be_bytes()[..], export.name.as_bytes()].concat();
                    reply(option_reply::SERVER, &entry);
                }
                reply(option_reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY => {
                self.structured = true;
                reply(option_reply::ACK, &[]);
            }
            option::STARTTLS => match self.encryption {
                Encryption::Required => {
                    reply(option_reply::ACK, &[]);
                    return Step::StartTls;
                }
                Encryption::Active => reply(option_reply::ERR_INVALID, b"It is encrypted."),
                Encryption::Unavailable => {
                    reply(option_reply::ERR_UNSUP, b"This server has no certificate.");
                }
            },
            _ => reply(option_reply::ERR_UNSUP, b"This server has no such option."),
        }
        Step::Continue
    }

    /// `NBD_OPT_EXPORT_NAME`: an unknown name can only be answered by the end of the connection.
    fn use_by_name(&self, name: &[u8], replies: &mut Vec<u8>) -> Step {
        let Some(export) = position(&self.exports, name) else {
            return Step::End;
        };
        replies.extend(self.exports[export].size_and_flags(self.structured));
        if self.pads {
            replies.extend([0; PADDING_BYTES]);
        }
        Step::Use(self.agreed(export))
    }

    /// `NBD_OPT_INFO` and `NBD_OPT_GO`.
    fn describe(&self, option: u32, data: &[u8], replies: &mut Vec<u8>) -> Step {
        let Some(query) = ExportQuery::parse(data) else {
            push_reply(replies, option, option_reply::ERR_INVALID, NO_FORM);
            return Step::Continue;
        };
        let Some(number) = position(&self.exports, query.name) else {
            push_reply(replies, option, option_reply::ERR_UNKNOWN, NO_EXPORT);
            return Step::Continue;
        };
        let export = &self.exports[number];
        for kind in [
            info::EXPORT,
            info::BLOCK_SIZE,
            info::NAME,
            info::DESCRIPTION,
        ] {
            let always = matches!(kind, info::EXPORT | info::BLOCK_SIZE);
            if (always || query.infos.contains(&kind))
                && let Some(contents) = export.info(kind, self.structured)
            {
                push_reply(replies, option, option_reply::INFO, &contents);
            }
        }
        push_reply(replies, option, option_reply::ACK, &[]);
        match option {
            option::GO => Step::Use(self.agreed(number)),
            _ => Step::Continue,
        }
    }

    /// `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`.
    fn choose_context(&mut self, option: u32, data: &[u8], replies: &mut Vec<u8>) {
        let lists = option == option::LIST_META_CONTEXT;
        let mut reply = |kind, contents: &[u8]| push_reply(replies, option, kind, contents);
        if !lists {
            self.allocation_of = None;
        }
        let Some(query) = ContextQuery::parse(data).filter(|_| self.structured) else {
            return reply(option_reply::ERR_INVALID, NO_FORM);
        };
        let Some(export) = position(&self.exports, query.name) else {
            return reply(option_reply::ERR_UNKNOWN, NO_EXPORT);
        };
        if query.asks_for_allocation(lists) {
            let id = if lists { 0 } else { ALLOCATION_ID };
            let context = [&id.to_be_bytes()[..], ALLOCATION].concat();
            reply(option_reply::META_CONTEXT, &context);
            if !lists {
                self.allocation_of = Some(export);
            }
        }
        reply(option_reply::ACK, &[]);
    }

    fn agreed(&self, export: usize) -> Agreed {
        Agreed {
            export,
            structured: self.structured,
            block_status: self.allocation_of == Some(export),
        }
    }
}

const NO_FORM: &[u8] =
    b"What comes with that option has another form, or structured replies are missing.";
const NO_EXPORT: &[u8] = b"There is no export of that name.";

/// Option and length; `None` if no server should go on.
fn option_header(header: &[u8; 16]) -> Option<(u32, usize)> {
    let mut fields = Fields::new(header);
    let magic = fields.u64()?;
    let (option, length) = (fields.u32()?, fields.u32()?);
    (magic == OPTION_MAGIC && length <= MOST_OPTION_BYTES).then_some((option, length as usize))
}

fn push_reply(replies: &mut Vec<u8>, option: u32, kind: u32, contents: &[u8]) {
    replies.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    replies.extend(option.to_be_bytes());
    replies.extend(kind.to_be_bytes());
    replies.extend((contents.len() as u32).to_be_bytes());
    replies.extend(contents);
}
