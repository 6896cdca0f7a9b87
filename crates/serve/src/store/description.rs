//! The file that makes a directory a store: whose contents it holds, and how they are laid out.

use std::fs;
use std::io;
use std::path::Path;

use array::ArraySettings;
use array::raid::Level;
use config::Choice;
use serde::{Deserialize, Serialize};

use super::{StoreError, checksums};
use crate::volume::ServedVolume;

/// The name of the file.
pub(super) const NAME: &str = "store.toml";
/// What this version writes and reads.
const VERSION: u32 = 1;
const FIRST_LINE: &str =
    "# The store of a modelled array (proofload serve --store). Checksum of what follows: ";

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Version of the format.
    version: u32,
    /// The array it was made for, for people.
    pub title: String,
    /// One sentence for each disk group: its level, its disks, its chunks.
    pub disk_groups: Vec<String>,
    /// One sentence for each pool.
    pub pools: Vec<String>,
    /// One sentence for each volume.
    pub volumes: Vec<String>,
    /// The names of the files of the disks, station by station.
    #[serde(skip)]
    pub(super) disks: Vec<String>,
    /// The names of the pools with pages.
    #[serde(skip)]
    pub(super) pool_names: Vec<String>,
    /// Whether there is a file with checksums for each disk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_checksums: bool,
    /// The files that change together, in the order that numbers them.
    pub(super) files: Vec<String>,
}

impl Description {
    /// Describes an array with these volumes; `disk_sectors` are the capacities of its disks, station by station.
    ///
    /// # Errors
    /// The array has what a store cannot keep.
    pub fn new(
        settings: &ArraySettings,
        volumes: &[ServedVolume],
        disk_sectors: &[u64],
    ) -> Result<Self, StoreError> {
        let (mut disk_groups, mut disks) = (Vec::new(), Vec::new());
        for group in &settings.backend.disk_group {
            if group.level == Level::Vraid && group.spares == 0 {
                return Err(StoreError::SpreadSpares(group.name.clone()));
            }
            let stations = usize::from(group.disks) + usize::from(group.spares);
            let capacities = disk_sectors.get(disks.len()..disks.len() + stations);
            let smallest = capacities.into_iter().flatten().min().copied().unwrap_or(0);
            let chunks = group.chunk_kib.map_or("whole disks".to_owned(), |kib| {
                format!("chunks of {kib} KiB")
            });
            let mut sentence = format!(
                "disk group '{}' is {} of {} disks and {} spares of {smallest} sectors, in {chunks}",
                group.name,
                group.level.name(),
                group.disks,
                group.spares,
            );
            for disk in &group.virtual_disk {
                sentence.push_str(&format!(
                    ", with '{}' of {} GiB as {}",
                    disk.name,
                    disk.size_gib,
                    disk.level.name()
                ));
            }
            if group.level == Level::Vraid {
                sentence.push_str(&format!(", placed by {:?}", group.placement));
            }
            disk_groups.push(sentence);
            let names =
                (0..stations).map(|number| format!("disks/{}-{number}", plain(&group.name)));
            disks.extend(names);
        }
        let read_caches = settings
            .pools
            .values()
            .filter_map(|pool| pool.read_cache.as_ref());
        let read_caches: Vec<&str> = read_caches.map(|cache| cache.group.as_str()).collect();
        // What a read cache holds is elsewhere, too.
        let groups = settings.backend.disk_group.iter();
        let keeps: Vec<bool> = groups
            .map(|group| !read_caches.contains(&group.name.as_str()))
            .collect();
        let mut keeps = keeps.into_iter();
        disk_groups.retain(|_| keeps.next().unwrap_or(true));
        let pools = settings.pools.iter();
        Ok(Self {
            version: VERSION,
            title: settings.title.clone(),
            disk_groups,
            pools: pools
                .map(|(name, pool)| {
                    format!("pool '{name}' has pages of {} sectors", pool.page_sectors())
                })
                .collect(),
            volumes: volumes
                .iter()
                .map(|volume| volume_sentence(settings, volume))
                .collect(),
            disks,
            pool_names: settings.pools.keys().cloned().collect(),
            has_checksums: false,
            files: Vec::new(),
        })
    }

    /// The files of the store in the order that numbers them: state, pools, disks, checksums of disks.
    pub(super) fn all_files(&self) -> Vec<String> {
        let pools = self.pool_names.iter().map(|name| pool_file(name));
        let checksums = self.disks.iter().map(|disk| checksums::file_of(disk));
        let checksums = checksums.filter(|_| self.has_checksums);
        std::iter::once("state".to_owned())
            .chain(pools)
            .chain(self.disks.iter().cloned())
            .chain(checksums)
            .collect()
    }

    /// Reads the description of the store in a directory.
    pub(super) fn read(directory: &Path) -> Result<Self, StoreError> {
        let text = match fs::read_to_string(directory.join(NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NotAStore);
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(StoreError::Damaged);
            }
            Err(error) => return Err(error.into()),
        };
        let (first, rest) = text.split_once('\n').ok_or(StoreError::Damaged)?;
        let checksum = first.strip_prefix(FIRST_LINE).ok_or(StoreError::Damaged)?;
        if checksum != checksum_of(rest) {
            return Err(StoreError::Damaged);
        }
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } = toml::from_str(rest).map_err(|_| StoreError::Damaged)?;
        if version != VERSION {
            return Err(StoreError::OtherVersion(version));
        }
        toml::from_str(rest).map_err(|_| StoreError::Damaged)
    }

    /// Puts the description into a directory, in place of the one that is there.
    pub(super) fn write(&self, directory: &Path) -> Result<(), StoreError> {
        let rest = toml::to_string(self).map_err(io::Error::other)?;
        let text = format!("{FIRST_LINE}{}\n{rest}", checksum_of(&rest));
        let new = directory.join(format!("{NAME}.new"));
        fs::write(&new, text)?;
        fs::File::open(&new)?.sync_all()?;
        fs::rename(&new, directory.join(NAME))?;
        Ok(())
    }

    /// What of this store an array does not have, and what it has instead.
    pub(super) fn differs_from(&self, array: &Self) -> Option<(String, String)> {
        let lists = [
            (&self.volumes, &array.volumes, true),
            (&self.disk_groups, &array.disk_groups, false),
            (&self.pools, &array.pools, false),
        ];
        for (own, others, exactly) in lists {
            let number = (0..own.len()).find(|&number| !others.contains(&own[number]));
            if let Some(number) = number {
                // The same subject comes first in both sentences.
                let subject = subject_of(&own[number]);
                let instead = others.iter().find(|other| subject_of(other) == subject);
                let instead = instead
                    .cloned()
                    .unwrap_or_else(|| format!("there is no {subject}"));
                return Some((own[number].clone(), instead));
            }
            if exactly && own.len() != others.len() {
                let more = others.iter().find(|other| !own.contains(other)).cloned();
                return Some((
                    format!("it has {} volumes", own.len()),
                    more.unwrap_or_default(),
                ));
            }
        }
        None
    }
}

/// What a sentence is about: everything up to the name.
fn subject_of(sentence: &str) -> &str {
    let end = sentence.match_indices('\'').nth(1).map(|(at, _)| at + 1);
    &sentence[..end.unwrap_or(sentence.len())]
}

fn volume_sentence(settings: &ArraySettings, volume: &ServedVolume) -> String {
    let of_array = settings.volumes.get(usize::from(volume.id.0));
    let place = of_array.and_then(|of_array| match (&of_array.pool, &of_array.group) {
        (Some(pool), _) => Some(format!(" in pool '{pool}'")),
        (None, Some(group)) => Some(format!(" in group '{group}'")),
        (None, None) => None,
    });
    format!(
        "volume '{}' has {} bytes{}",
        volume.name,
        volume.size_bytes,
        place.unwrap_or_default()
    )
}

/// The name of the file that says where the pages of a pool lie.
pub(super) fn pool_file(pool: &str) -> String {
    format!("pages-{}", plain(pool))
}

/// A name that can be one of a file, and no other's.
pub(super) fn plain(name: &str) -> String {
    let letters = name.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    });
    letters.collect()
}

fn checksum_of(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}
