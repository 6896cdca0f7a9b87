//! What sessions do to a mailbox database.

use strum::{IntoStaticStr, VariantArray};

/// What a session does to one mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// A new mail arrives.
    Insert,
    /// A mail is found and deleted.
    Delete,
    /// A mail is found and replaced by its next version.
    Replace,
    /// A mail is found and read.
    Read,
    /// A run of mails is read in the order of the index.
    Scan,
}

impl Operation {
    /// Every kind, in the order of results.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Whether it changes the database.
    #[must_use]
    pub fn is_update(self) -> bool {
        matches!(self, Self::Insert | Self::Delete | Self::Replace)
    }

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
