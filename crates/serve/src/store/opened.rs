//! A store that an array uses.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use array::kept::{KeptDiskGroup, KeptPool, KeptState, PageChange};
use array::payload::Bytes;
use array::{Array, HostRequest};

use super::checksums;
use super::contents::{self, PoolShape, STATE, SharedFiles, StoredDisk};
use super::description::plain;
use super::files::Files;
use super::writes::{Writes, kept_writes};
use super::{Progress, Store, StoreError};

const LAST_CHANGE: &str = "last-change";
/// Stands for a file that is missing while the others are read: it is empty, and takes what is written.
const NOTHING: &str = "/dev/null";
/// Requests that are under way at a time when those of an earlier process are repeated.
const REPEATED_AT_ONCE: usize = 64;
/// How often it is said how far that is.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// How long the model may take to bring everything to the disks when it ends, in its own time.
const LONGEST_DRAIN_NS: u64 = 3_600_000_000_000;

/// The files of a store, and what of the array is in them.
#[derive(Debug)]
pub(crate) struct OpenedStore {
    shared: Rc<RefCell<SharedFiles>>,
    writes: Writes,
    pools: Vec<PoolShape>,
    revision: u64,
    changes: Vec<PageChange>,
    _lock: File,
}

impl Store {
    /// Makes `array`, which is new, what it was when the store was used last, and keeps it from now on. Gives the
    /// time of the array then.
    ///
    /// # Errors
    /// Too many files are missing, something is damaged, or the system refuses something.
    pub(crate) fn attach(self, array: &mut Array<Bytes>) -> Result<(OpenedStore, u64), StoreError> {
        let directory = self.directory.as_path();
        if let Some(stored) = &self.description {
            let missing = stored
                .files
                .iter()
                .filter(|file| !directory.join(file).exists());
            let missing: Vec<&str> = missing.map(String::as_str).collect();
            let files = open_all(directory, &stored.files, |path| match path.exists() {
                true => path.to_owned(),
                false => NOTHING.into(),
            })?;
            let last_change = open(&directory.join(LAST_CHANGE))?;
            let files = Files::new(files, last_change)?;
            let Some((mut state, pools)) = contents::read(&files, &stored.files)? else {
                return Err(StoreError::Damaged);
            };
            let failed_before = failed_groups(&state);
            // A disk without its checksums is none.
            let disks: Vec<String> = missing
                .iter()
                .map(|file| checksums::disk_of(file))
                .collect();
            self.array.fail_missing(&disks, &mut state);
            array.restore(&state, &pools)?;
            if failed_groups(&array.kept_state()) != failed_before {
                return Err(StoreError::DisksMissing(missing.join(", ")));
            }
            files.forget_last()?;
        }
        let shared = self.rearrange(array)?;
        let sectors = array.disk_sectors();
        let first_disk = STATE + 1 + self.array.pool_names.len() as u32;
        let first_checksums = first_disk + sectors.len() as u32;
        array.keep_elsewhere(|station| {
            Box::new(StoredDisk {
                shared: Rc::clone(&shared),
                file: first_disk + station,
                checksums: (self.array.has_checksums).then_some(first_checksums + station),
                sectors: sectors[station as usize],
            })
        });
        let (requests, paths) = kept_writes(directory)?;
        let pools = array.kept_pools();
        let mut opened = OpenedStore {
            shared,
            writes: Writes::begin(directory)?,
            pools: pools.iter().map(PoolShape::of).collect(),
            revision: 0,
            changes: Vec::new(),
            _lock: self.lock,
        };
        opened.write_all(array, &pools)?;
        let now_ns = opened.repeat(array, requests, self.progress.as_ref())?;
        paths.iter().try_for_each(fs::remove_file)?;
        Ok((opened, now_ns))
    }

    /// Gives every disk and pool of the array its file, in the order that numbers them.
    fn rearrange(&self, array: &Array<Bytes>) -> Result<Rc<RefCell<SharedFiles>>, StoreError> {
        let directory = self.directory.as_path();
        let mut description = self.array.clone();
        description.files = description.all_files();
        for place in ["disks", checksums::DIRECTORY] {
            match fs::create_dir(directory.join(place)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error.into());
                }
                _ => {}
            }
            if !description.has_checksums {
                break;
            }
        }
        let files = open_all(directory, &description.files, Path::to_owned)?;
        let sectors = array.disk_sectors();
        let disks = 1 + description.pool_names.len();
        let lengths = sectors.iter().map(|sectors| sectors * array::SECTOR_BYTES);
        let lengths = lengths.chain(sectors.iter().map(|sectors| sectors * checksums::BYTES));
        for (file, length) in files[disks..].iter().zip(lengths) {
            if file.metadata()?.len() < length {
                file.set_len(length)?;
            }
        }
        for (file, pool) in files[1..].iter().zip(array.kept_pools()) {
            file.set_len(PoolShape::of(&pool).bytes())?;
        }
        let last_change = open(&directory.join(LAST_CHANGE))?;
        description.write(directory)?;
        let files = Files::new(files, last_change)?;
        Ok(Rc::new(RefCell::new(SharedFiles { files, error: None })))
    }
}

impl OpenedStore {
    fn write_all(&mut self, array: &mut Array<Bytes>, pools: &[KeptPool]) -> io::Result<()> {
        array.take_changes(&mut self.changes);
        self.changes.clear();
        let mut shared = self.shared.borrow_mut();
        for ((file, shape), pool) in (STATE + 1..).zip(&self.pools).zip(pools) {
            contents::write_pool(&mut shared.files, file, shape, pool);
        }
        contents::write_state(&mut shared.files, array.kept_state(), &self.pools)?;
        self.revision = array.state_revision();
        shared.files.commit()
    }

    /// Does again what an earlier process has acknowledged and may not have brought to the disks.
    fn repeat(
        &mut self,
        array: &mut Array<Bytes>,
        requests: Vec<HostRequest<Bytes>>,
        progress: Option<&Progress>,
    ) -> io::Result<u64> {
        let all = requests.len() as u64;
        let mut said: Option<Instant> = None;
        let mut say = |done| {
            let is_due = said.is_none_or(|said| said.elapsed() >= PROGRESS_INTERVAL);
            if let Some(progress) = progress.filter(|_| is_due) {
                said = Some(Instant::now());
                progress(done, all);
            }
        };
        let mut now_ns = 0;
        let mut completed = Vec::new();
        let (mut sent, mut ended) = (0, 0);
        for request in requests {
            say(sent as u64);
            array.submit(now_ns, request);
            sent += 1;
            while sent - ended > REPEATED_AT_ONCE {
                let Some(next_ns) = array.next_event_ns() else {
                    break;
                };
                now_ns = now_ns.max(next_ns);
                array.advance_to(now_ns, &mut completed);
                ended += completed.drain(..).count();
                self.commit(array, now_ns)?;
            }
        }
        self.drain(array, now_ns)
    }

    /// Lets the model go on until everything is on the disks, and gives its time then.
    pub(crate) fn drain(&mut self, array: &mut Array<Bytes>, now_ns: u64) -> io::Result<u64> {
        let mut time_ns = now_ns;
        let mut completed = Vec::new();
        array.repair_controllers(now_ns);
        while array.oldest_unwritten_ns().is_some()
            && let Some(next_ns) = array.next_event_ns()
            && next_ns < now_ns + LONGEST_DRAIN_NS
        {
            time_ns = time_ns.max(next_ns);
            array.advance_to(time_ns, &mut completed);
            completed.clear();
            self.commit(array, time_ns)?;
        }
        self.forget(array)?;
        Ok(time_ns)
    }

    /// Notes a request before the array has it.
    pub(crate) fn note(&mut self, request: &HostRequest<Bytes>) {
        self.writes.append(request);
    }

    /// Stores what has happened since the last call. What the array has acknowledged may be answered afterwards.
    pub(crate) fn commit(&mut self, array: &mut Array<Bytes>, now_ns: u64) -> io::Result<()> {
        for volume in array.take_dropped() {
            self.writes.append_dropped(volume);
        }
        self.writes.flush(now_ns)?;
        array.take_changes(&mut self.changes);
        let mut shared = self.shared.borrow_mut();
        if let Some(error) = shared.error.take() {
            return Err(error);
        }
        for change in self.changes.drain(..) {
            contents::write_change(&mut shared.files, &self.pools, change);
        }
        let revision = array.state_revision();
        if revision != self.revision {
            self.revision = revision;
            contents::write_state(&mut shared.files, array.kept_state(), &self.pools)?;
        }
        shared.files.commit()
    }

    /// Forgets writes that are on the disks.
    pub(crate) fn forget(&mut self, array: &Array<Bytes>) -> io::Result<()> {
        self.writes.forget(array.oldest_unwritten_ns())
    }

    /// Waits until everything is where a loss of power leaves it.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.shared.borrow().files.sync()
    }
}

impl super::Description {
    /// Has the disks fail whose files are missing.
    fn fail_missing(&self, missing: &[String], state: &mut KeptState) {
        for group in &mut state.disk_group {
            let prefix = format!("disks/{}-", plain(&group.name));
            let numbers = missing.iter().filter_map(|name| name.strip_prefix(&prefix));
            for disk in numbers.filter_map(|number| number.parse().ok()) {
                fail(group, disk);
            }
        }
    }
}

fn fail(group: &mut KeptDiskGroup, disk: u16) {
    if group.failed_disks.contains(&disk) {
        return;
    }
    group.failed_disks.push(disk);
    group.spares.retain(|&spare| spare != disk);
    let member = group.members.iter().position(|&member| member == disk);
    if let Some(member) = member.map(|member| member as u16)
        && !group.missing.contains(&member)
    {
        group.missing.push(member);
    }
}

fn failed_groups(state: &KeptState) -> Vec<String> {
    let groups = state.disk_group.iter();
    groups
        .flat_map(|group| group.failed_groups.clone())
        .collect()
}

fn open_all(
    directory: &Path,
    names: &[String],
    path_of: impl Fn(&Path) -> std::path::PathBuf,
) -> io::Result<Vec<File>> {
    let opened = names
        .iter()
        .map(|name| open(&path_of(&directory.join(name))));
    opened.collect()
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}
