//! A model of a directory that knows what may be found after a power cut.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::buffer::BLOCK_BYTES;
use runtime::{Buffer, Directory, File, IoError, Persistence};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const SECTOR: usize = 512;
const SECTORS_PER_BLOCK: usize = BLOCK_BYTES / SECTOR;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// For each sector of a file the tags it may hold, latest last; 0 is a sector never written.
type Sectors = Vec<Vec<u64>>;

/// Names and what the files may hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    files: BTreeMap<String, Sectors>,
}

/// Something done to a directory.
#[derive(Debug, Clone)]
pub enum Step {
    Create {
        name: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        name: String,
    },
    Resize {
        name: String,
        blocks: usize,
    },
    Write {
        name: String,
        block: usize,
        blocks: usize,
        tag: u64,
        durable: bool,
    },
    Sync {
        name: String,
    },
}

pub fn tagged(blocks: usize, tag: u64) -> Buffer {
    let mut buffer = Buffer::zeroed(blocks * BLOCK_BYTES);
    for bytes in buffer.as_chunks_mut::<8>().0 {
        *bytes = tag.to_le_bytes();
    }
    buffer
}

fn tag_of(sector: &[u8]) -> u64 {
    let (tags, _) = sector.as_chunks::<8>();
    assert!(tags.iter().all(|tag| *tag == tags[0]), "a sector is torn");
    u64::from_le_bytes(tags[0])
}

impl Step {
    pub async fn perform<D: Directory>(&self, directory: &D) -> Result<(), IoError> {
        match self {
            Self::Create { name } => directory.create(name).await.map(|_| ()),
            Self::Rename { from, to } => directory.rename(from, to).await,
            Self::Remove { name } => directory.remove(name).await,
            Self::Resize { name, blocks } => {
                let file = directory.open(name).await?;
                file.set_size_bytes(*blocks as u64 * BLOCK).await
            }
            Self::Write {
                name,
                block,
                blocks,
                tag,
                durable,
            } => {
                let file = directory.open(name).await?;
                let persistence = if *durable {
                    Persistence::Durable
                } else {
                    Persistence::Volatile
                };
                let buffers = (0..*blocks).map(|_| Rc::new(tagged(1, *tag))).collect();
                file.write_vectored(*block as u64 * BLOCK, buffers, persistence)
                    .await
            }
            Self::Sync { name } => directory.open(name).await?.sync().await,
        }
    }
}

impl Model {
    /// The step is under way: it may have been done, or in part where it moves bytes.
    pub fn begin(&mut self, step: &Step) {
        if let Step::Write {
            name,
            block,
            blocks,
            tag,
            ..
        } = step
        {
            let sectors = self.files.get_mut(name).expect("the file is there");
            let end = (block + blocks) * SECTORS_PER_BLOCK;
            if sectors.len() < end {
                sectors.resize(end, vec![0]);
            }
            for sector in &mut sectors[block * SECTORS_PER_BLOCK..end] {
                sector.push(*tag);
            }
        } else if !matches!(step, Step::Sync { .. }) {
            self.complete(step);
        }
    }

    /// The step was done.
    pub fn complete(&mut self, step: &Step) {
        match step {
            Step::Create { name } => {
                self.files.insert(name.clone(), Vec::new());
            }
            Step::Rename { from, to } => {
                let file = self.files.remove(from).expect("the file is there");
                self.files.insert(to.clone(), file);
            }
            Step::Remove { name } => {
                self.files.remove(name);
            }
            Step::Resize { name, blocks } => {
                let sectors = self.files.get_mut(name).expect("the file is there");
                sectors.resize(blocks * SECTORS_PER_BLOCK, vec![0]);
            }
            Step::Write {
                name,
                block,
                blocks,
                durable,
                tag,
            } => {
                self.begin(step);
                if *durable {
                    let sectors = self.files.get_mut(name).expect("the file is there");
                    let range = block * SECTORS_PER_BLOCK..(block + blocks) * SECTORS_PER_BLOCK;
                    sectors[range].fill(vec![*tag]);
                }
            }
            Step::Sync { name } => {
                for sector in self.files.get_mut(name).expect("the file is there") {
                    sector.drain(..sector.len() - 1);
                }
            }
        }
    }

    /// Whether `seen`, in which every sector holds one tag, may be found.
    pub fn allows(&self, seen: &Self) -> bool {
        let same_names = self.files.keys().eq(seen.files.keys());
        same_names
            && self
                .files
                .values()
                .zip(seen.files.values())
                .all(|(possible, seen)| {
                    possible.len() == seen.len()
                        && possible
                            .iter()
                            .zip(seen)
                            .all(|(tags, tag)| tags.contains(&tag[0]))
                })
    }
}

/// Something to do that makes sense in `model`.
pub fn random_step(model: &Model, random: &mut Xoshiro256PlusPlus, next_tag: &mut u64) -> Step {
    let some_name = |random: &mut Xoshiro256PlusPlus| random.random_range(0..6).to_string();
    let name = some_name(random);
    if !model.files.contains_key(&name) {
        return Step::Create { name };
    }
    *next_tag += 1;
    match random.random_range(0..20) {
        0 => Step::Remove { name },
        1..3 => Step::Rename {
            from: name,
            to: some_name(random),
        },
        3..6 => Step::Resize {
            name,
            blocks: random.random_range(0..24),
        },
        6..8 => Step::Sync { name },
        _ => Step::Write {
            name,
            block: random.random_range(0..16),
            blocks: random.random_range(1..6),
            tag: *next_tag,
            durable: random.random_bool(0.4),
        },
    }
}

/// Reads a whole directory.
pub async fn observe<D: Directory>(directory: &D) -> Model {
    let mut files = BTreeMap::new();
    let names = directory.list().await.expect("the directory can be listed");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for name in names {
        let file = directory.open(&name).await.expect("a listed file opens");
        let size_bytes = file.size_bytes().await.expect("the file has a size");
        let mut sectors = Vec::new();
        if size_bytes > 0 {
            let buffer = Buffer::zeroed(usize::try_from(size_bytes).expect("files are small"));
            let (buffer, result) = file.read(0, buffer).await;
            result.expect("a file can be read");
            sectors = buffer
                .chunks(SECTOR)
                .map(|sector| vec![tag_of(sector)])
                .collect();
        }
        files.insert(name, sectors);
    }
    Model { files }
}
