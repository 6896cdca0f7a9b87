//! Where the pages of a pool lie, for a pool that outlives its process.

use super::PagedPool;
use crate::kept::{KeptPool, Misfit, PageChange};
use crate::payload::Payload;
use crate::pool::tiering::TieringPolicy;
use crate::raid::GroupId;

impl<P: Payload> PagedPool<P> {
    pub(crate) fn kept(&self, name: &str, group_name: impl Fn(GroupId) -> String) -> KeptPool {
        let spaces = &self.map.spaces;
        KeptPool {
            name: name.to_owned(),
            groups: spaces.iter().map(|space| group_name(space.group)).collect(),
            pages: (0..self.map.pages())
                .map(|page| self.map.number_of(page))
                .collect(),
            used: spaces.iter().map(|space| space.used().to_vec()).collect(),
        }
    }

    pub(crate) fn note_changes(&mut self) {
        self.map.note_changes();
    }

    pub(crate) fn take_changes(&mut self, number: u16, changes: &mut Vec<PageChange>) {
        for page in self.map.take_moved() {
            changes.push(PageChange::Page {
                pool: number,
                page,
                location: self.map.number_of(page),
            });
        }
        for (group, space) in (0..).zip(&mut self.map.spaces) {
            let words = space.take_changed().into_iter();
            changes.extend(words.map(|(word, bits)| PageChange::Used {
                pool: number,
                group,
                word,
                bits,
            }));
        }
    }

    pub(crate) fn restore(
        &mut self,
        kept: &KeptPool,
        group_name: impl Fn(GroupId) -> String,
    ) -> Result<(), Misfit> {
        let name = &kept.name;
        if kept.pages.len() != self.map.pages() as usize {
            return Err(Misfit(format!(
                "pool '{name}' has pages of another size, or other volumes"
            )));
        }
        let names: Vec<String> = self
            .map
            .spaces
            .iter()
            .map(|space| group_name(space.group))
            .collect();
        let now: Vec<Option<usize>> = kept
            .groups
            .iter()
            .map(|group| names.iter().position(|one| one == group))
            .collect();
        // Pages that thick volumes have taken lie elsewhere.
        for page in 0..self.map.pages() {
            if self.map.release(page).is_some() {
                self.tiering.removed(page);
            }
        }
        for (page, &location) in (0..).zip(&kept.pages) {
            let group_of = |was: usize| now.get(was).copied().flatten();
            if !self.map.restore(page, location, group_of) {
                return Err(Misfit(format!(
                    "pool '{name}' lacks a place that holds data"
                )));
            }
            if let Some(at) = self.map.location(page) {
                self.tiering.placed(page, self.map.spaces[at.group()].tier);
            }
        }
        for (used, group) in kept.used.iter().zip(now) {
            if let Some(group) = group {
                self.map.spaces[group].restore_used(used);
            }
        }
        Ok(())
    }
}
