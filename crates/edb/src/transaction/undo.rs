//! Taking changes back.
//!
//! Undo is logical: it finds the node by its key, wherever splits and merges have brought it, and
//! gives it its former state. A node that was inserted gets the deleted flag and goes the way of all
//! deleted nodes, since an older snapshot may need an older version under the same key. What a
//! version reader sees does not change while a rollback is under way: the versions stay until the
//! node is as it was.

use crate::engine::{Admission, Core};
use crate::error::EngineError;
use crate::format::page::{NodeFlags, PageView};
use crate::log_record::{encode_rolled_back, encode_undo};
use crate::position::LogPosition;
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::tree::{self, DataChange, Found, Need, Step};
use crate::versions::{FormerState, OpenTransaction, Update};
use runtime::Directory;

impl<D: Directory> Core<D> {
    /// Takes back all but the oldest `keep` changes of a transaction.
    pub(crate) async fn undo_to(
        &self,
        transaction: &mut OpenTransaction,
        keep: usize,
    ) -> Result<(), EngineError> {
        while transaction.updates.len() > keep {
            let result = self
                .write_as(Admission::Finishing, |step| {
                    self.undo_step(step, transaction)
                })
                .await;
            if let Err(error) = result {
                // A change that cannot be taken back must not be left standing as if it were: only
                // a restart can undo it now.
                self.poison(error.clone());
                return Err(error);
            }
            self.forget_newest(transaction);
        }
        self.cleanup_wanted.notify_all();
        Ok(())
    }

    /// Forgets the newest change of a transaction, which has been taken back.
    fn forget_newest(&self, transaction: &mut OpenTransaction) {
        let mut transactions = self.transactions.borrow_mut();
        let update = transactions.pop_update(transaction);
        let (Some(update), Some(begin)) = (update, transaction.begin) else {
            panic!("a change that was taken back had been made");
        };
        if !update.is_first {
            return;
        }
        // The node is as it was before the transaction.
        transactions
            .versions
            .forget(update.tree, &update.key, transaction.writer.id);
        if update.before.was_absent() {
            transactions.push_cleanup(update.tree, update.key, begin);
        }
    }

    fn undo_step(&self, mut step: Step<'_>, transaction: &OpenTransaction) -> Result<(), Need> {
        let Some(update) = transaction.updates.last() else {
            panic!("there is something to take back");
        };
        step.may_use_reserve = true;
        restore(&mut step, update)?;
        let counted_twice = usize::from(is_seeded(SeededBug::UndoCountedTwice));
        let remaining = transaction.updates.len() - 1 + counted_twice;
        let remaining = u32::try_from(remaining).unwrap_or_else(|_| panic!("too many updates"));
        let writer = transaction.writer.id;
        self.commit_step(step, |operations| {
            encode_undo(writer, remaining, operations)
        });
        Ok(())
    }

    /// Takes back everything and ends the transaction.
    pub(crate) async fn roll_back(
        &self,
        mut transaction: OpenTransaction,
    ) -> Result<(), EngineError> {
        self.undo_to(&mut transaction, 0).await?;
        let end = match transaction.begin {
            Some(_) => {
                self.log
                    .append(&encode_rolled_back(transaction.writer.id))
                    .end
            }
            None => LogPosition::START,
        };
        self.transactions
            .borrow_mut()
            .end_rolled_back(&transaction, end);
        self.cleanup_wanted.notify_all();
        Ok(())
    }
}

/// Gives a node its former state.
fn restore(step: &mut Step<'_>, update: &Update) -> Result<(), Need> {
    let Some(Found { leaf, index }) = tree::find(step, update.tree, &update.key)? else {
        panic!("a node that a transaction changed stays until the transaction has ended");
    };
    let node = PageView::new(&leaf.page).node(index);
    let (data, deleted) = match &update.before {
        FormerState::Nothing => (node.data.to_vec(), true),
        FormerState::Node {
            deleted,
            kept: (front, back),
            middle,
        } => {
            let change = DataChange {
                front: *front,
                back: *back,
                middle,
            };
            (change.applied(node.data), *deleted)
        }
    };
    drop(leaf);
    let flags = if deleted {
        NodeFlags::DELETED
    } else {
        NodeFlags::NONE
    };
    crate::nodes::change_node(step, update.tree, &update.key, flags, &data)
}
