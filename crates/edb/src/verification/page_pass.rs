//! A pass over every page of a closed database.

use crate::cache::{PageError, PageProblem};
use crate::format::layout::{last_page, page_offset};
use crate::integrity::{
    DamageClass, Evidence, FileClass, FileFinding, FilePart, PageFinding, Persistence,
    READ_AGAIN_AFTER_MS, ReadCheck, VersionTable, classify,
};
use crate::position::PageNumber;
use runtime::time::MILLISECOND_NS;
use runtime::{Buffer, File, Handle, IoError, JoinHandle};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Bytes of one read.
const READ_BYTES: usize = 1 << 20;
/// Reads under way at one time, so that the storage never waits for the checksums.
const READS_IN_FLIGHT: usize = 4;
/// Damaged pages that are read again and described, and unreadable ones that are described.
const MOST_DESCRIBED: u64 = 1000;
/// Further damaged pages whose numbers are kept. Of those beyond, only the number of each class is.
const MOST_NUMBERED: usize = 1_000_000;

/// What the pass found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PagePass {
    /// Pages read, empty ones among them.
    pub pages: u64,
    /// Of those, the ones that nobody has ever written.
    pub never_written_pages: u64,
    /// Bytes read, without those that were read again.
    pub bytes: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Damaged pages by class, those that are not described included.
    pub classes: BTreeMap<DamageClass, u64>,
    /// Pages that could not be read.
    pub unreadable_pages: u64,
    /// What is wrong, page by page: the first 1,000 damaged and the first 1,000 unreadable ones.
    pub findings: Vec<PageError>,
    /// Damaged pages beyond those that are described: the first million.
    pub further_pages: Vec<(PageNumber, DamageClass)>,
    /// Pages that were written since the database was opened and lie behind the end of the file: they were not
    /// read.
    pub written_behind_end: u64,
    /// That the file ends before the last page that is known, if it does.
    pub cut_short: Option<FileFinding>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

struct Pass<'a, F: File> {
    handle: &'a Handle,
    file: &'a F,
    page_bytes: usize,
    table: &'a Rc<VersionTable>,
    result: PagePass,
    suspects: Vec<PageFinding>,
}

/// Reads every page of `file`, which nobody may be writing, and holds it against `table`. `progress`
/// hears the bytes read so far, and says whether to go on.
///
/// # Errors
/// If the size of the file cannot be found out. Pages that cannot be read are findings.
pub async fn verify_pages<F: File>(
    handle: &Handle,
    file: &F,
    page_size_bytes: usize,
    table: &Rc<VersionTable>,
    progress: impl Fn(u64) -> bool,
) -> Result<PagePass, IoError> {
    let began_ns = handle.now_ns();
    let last = last_page(file.size_bytes().await?, page_size_bytes);
    let mut pass = Pass {
        handle,
        file,
        page_bytes: page_size_bytes,
        table,
        result: PagePass::default(),
        suspects: Vec::new(),
    };
    pass.read_all(last, progress).await;
    pass.read_suspects_again().await;
    pair_up(&mut pass.result.findings);
    let seconds = (handle.now_ns() - began_ns) as f64 / 1e9;
    Ok(PagePass {
        seconds,
        written_behind_end: table.written_behind(last),
        cut_short: cut_short(&file.name(), last, table.last_page()),
        ..pass.result
    })
}

/// The finding that a file ends with page `last` and had pages up to `known`.
fn cut_short(file: &str, last: u32, known: u32) -> Option<FileFinding> {
    (last < known).then(|| FileFinding {
        file: file.to_owned(),
        part: FilePart::DatabaseEnd,
        class: FileClass::Missing,
        problem: format!(
            "the database file is cut short: it has {last} whole pages and had {known}"
        ),
        persistence: Persistence::ReadOnce,
    })
}

type Reading = (u32, u32, JoinHandle<(Buffer, Result<(), IoError>)>);

impl<F: File> Pass<'_, F> {
    async fn read_all(&mut self, last: u32, progress: impl Fn(u64) -> bool) {
        let per_read = (READ_BYTES / self.page_bytes).max(1) as u32;
        let mut first = 1;
        let mut reads: VecDeque<Reading> = VecDeque::new();
        loop {
            while reads.len() < READS_IN_FLIGHT && first <= last {
                let count = per_read.min(last - first + 1);
                reads.push_back((first, count, self.start_read(first, count)));
                first += count;
            }
            let Some((begin, count, read)) = reads.pop_front() else {
                return;
            };
            let (bytes, result) = read.await;
            match result {
                Ok(()) => {
                    for (page, bytes) in (begin..).zip(bytes.chunks_exact(self.page_bytes)) {
                        self.look_at(page, bytes);
                    }
                }
                Err(_) => self.read_one_by_one(begin, count).await,
            }
            self.result.pages += u64::from(count);
            self.result.bytes += u64::from(count) * self.page_bytes as u64;
            if !progress(self.result.bytes) {
                self.result.stopped = true;
                return;
            }
        }
    }

    fn start_read(&self, first: u32, count: u32) -> JoinHandle<(Buffer, Result<(), IoError>)> {
        let file = self.file.clone();
        let offset = page_offset(first, self.page_bytes);
        let length = count as usize * self.page_bytes;
        self.handle
            .spawn(async move { file.read(offset, Buffer::zeroed(length)).await })
    }

    /// The pages of a request that failed: which of them is it?
    async fn read_one_by_one(&mut self, first: u32, count: u32) {
        for page in first..first + count {
            let offset = page_offset(page, self.page_bytes);
            let buffer = Buffer::zeroed(self.page_bytes);
            let (bytes, result) = self.file.read(offset, buffer).await;
            match result {
                Ok(()) => self.look_at(page, &bytes),
                Err(error) => self.unreadable(page, error),
            }
        }
    }

    fn unreadable(&mut self, page: u32, error: IoError) {
        if self.result.unreadable_pages < MOST_DESCRIBED {
            self.describe(page, PageProblem::Io(error));
        }
        self.result.unreadable_pages += 1;
    }

    fn describe(&mut self, page: u32, problem: PageProblem) {
        self.result.findings.push(PageError {
            file: self.file.name(),
            page: PageNumber(page),
            problem,
        });
    }

    fn look_at(&mut self, page: u32, bytes: &[u8]) {
        if let Err(finding) = self.examined(page, bytes) {
            if (self.suspects.len() as u64) < MOST_DESCRIBED {
                self.suspects.push(finding);
                return;
            }
            *self.result.classes.entry(finding.class).or_default() += 1;
            if self.result.further_pages.len() < MOST_NUMBERED {
                let page = PageNumber(finding.page);
                self.result.further_pages.push((page, finding.class));
            }
        }
    }

    fn examined(&mut self, page: u32, bytes: &[u8]) -> Result<(), PageFinding> {
        let reading = self.table.begin_read();
        let evidence = Evidence::of(bytes, page);
        match self.table.judge(&reading, page, evidence.contents) {
            ReadCheck::Right => Ok(()),
            ReadCheck::NeverWritten => {
                self.result.never_written_pages += 1;
                Ok(())
            }
            ReadCheck::Disturbed | ReadCheck::Wrong => {
                Err(classify(&evidence, self.table, self.page_bytes))
            }
        }
    }

    /// Reads all wrong pages again, three times within a second.
    async fn read_suspects_again(&mut self) {
        let mut wrong = std::mem::take(&mut self.suspects);
        for (reads, wait_ms) in (2..).zip(READ_AGAIN_AFTER_MS) {
            if wrong.is_empty() {
                return;
            }
            self.handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
            let mut still_wrong = Vec::new();
            for finding in wrong {
                let offset = finding.offset_bytes;
                let buffer = Buffer::zeroed(self.page_bytes);
                let (bytes, result) = self.file.read(offset, buffer).await;
                if let Err(error) = result {
                    self.unreadable(finding.page, error);
                    continue;
                }
                match self.examined(finding.page, &bytes) {
                    Ok(()) => self.settle(PageFinding {
                        persistence: Persistence::Transient {
                            wrong_reads: reads - 1,
                        },
                        ..finding
                    }),
                    Err(again) => still_wrong.push(PageFinding {
                        persistence: Persistence::Medium { reads },
                        ..again
                    }),
                }
            }
            wrong = still_wrong;
        }
        for finding in wrong {
            self.settle(finding);
        }
    }

    fn settle(&mut self, finding: PageFinding) {
        *self.result.classes.entry(finding.class).or_default() += 1;
        self.describe(finding.page, PageProblem::Damaged(Box::new(finding)));
    }
}

/// A page that lost its write and a page that holds the contents of it belong together.
fn pair_up(findings: &mut [PageError]) {
    let found_at: BTreeMap<u32, u32> = findings
        .iter()
        .filter_map(|error| {
            let finding = error.finding()?;
            let misplaced = finding
                .misplaced
                .filter(|one| one.is_newest == Some(true))?;
            Some((misplaced.number, finding.page))
        })
        .collect();
    for error in findings {
        if let PageProblem::Damaged(finding) = &mut error.problem
            && let Some(&page) = found_at.get(&finding.page)
        {
            finding.found_at = Some(page);
        }
    }
}
