//! Fetching headers and pages.

use runtime::{Buffer, File, IoError};

use crate::format::database_header::{DatabaseHeader, HeaderDamage, PEEK_BYTES, Writer};
use crate::format::layout::{DATABASE_ROOT, last_page, page_offset};
use crate::format::page::{PageDamage, PageView, StructureError, verify};
use crate::integrity::{FileClass, FileFinding, compare_headers, foreign_copy};

/// Why a file cannot be looked into at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// A read of the file failed.
    #[error("{0}")]
    Io(#[from] IoError),
    /// Not a database, or both headers are damaged.
    #[error("neither header of {file} can be used: {damage}")]
    Header {
        /// Name of the file, such as a path.
        file: String,
        /// What is wrong with the first.
        damage: HeaderDamage,
    },
    /// The file needs recovery.
    #[error("{file} was not closed properly; open it once, so that the log is applied, then check")]
    NotClean {
        /// Name of the file, such as a path.
        file: String,
        /// Who wrote it, and can recover it.
        writer: Writer,
    },
    /// The build of the file was interrupted.
    #[error("{file} was never finished: its build was interrupted; remove it and build it again")]
    Unfinished {
        /// Name of the file, such as a path.
        file: String,
    },
}

/// What is wrong with a page by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageProblem {
    /// The storage refused to read it.
    #[error("{0}")]
    Unreadable(IoError),
    /// It is not the page that was written there.
    #[error("{0}")]
    Damage(PageDamage),
    /// What it holds breaks the format.
    #[error("{0}")]
    Structure(StructureError),
}

/// One page that was read.
pub(crate) struct Page {
    pub(crate) number: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Page {
    pub(crate) fn view(&self) -> PageView<'_> {
        PageView::new(&self.bytes)
    }
}

/// Reads a database file.
pub(crate) struct Reader<F: File> {
    file: F,
    pub(crate) header: DatabaseHeader,
    /// Whether the copies of the header are whole, and the same.
    pub(crate) header_copies: (Result<(), HeaderDamage>, Result<(), HeaderDamage>, bool),
    /// The copy of the header that is of another database, if one is.
    pub(crate) foreign_header: Option<FileFinding>,
    pub(crate) page_size_bytes: usize,
    pub(crate) file_size_bytes: u64,
    pub(crate) last_page: u32,
}

impl<F: File> Reader<F> {
    /// Reads both copies of the header; one that is whole is enough.
    pub(crate) async fn open(file: &F) -> Result<Self, CheckError> {
        let file_size_bytes = file.size_bytes().await?;
        let name = file.name();
        let bad = |damage| CheckError::Header {
            file: name.clone(),
            damage,
        };
        if file_size_bytes < PEEK_BYTES as u64 {
            return Err(bad(HeaderDamage::NoMagic));
        }
        let page_size =
            Self::page_size(file, file_size_bytes)
                .await
                .map_err(|error| match error {
                    PeekError::Io(error) => CheckError::Io(error),
                    PeekError::Damage(damage) => bad(damage),
                })?;
        if file_size_bytes < 2 * page_size as u64 {
            return Err(bad(HeaderDamage::PageSize(page_size as u32)));
        }
        let (both, read) = file.read(0, Buffer::zeroed(2 * page_size)).await;
        read?;
        let (first, second) = both.split_at(page_size);
        let mut header = DatabaseHeader::choose(first, second).map_err(bad)?;
        let mut foreign_header = None;
        let compared = compare_headers(&name, first, second);
        if compared.is_some_and(|finding| finding.class == FileClass::Foreign)
            && let Some(dbtime) = root_dbtime(file, page_size).await
            && let Some(foreign) = foreign_copy(&name, first, second, dbtime)
        {
            header = foreign.own;
            foreign_header = Some(foreign.finding);
        }
        let whole = |copy: &[u8]| DatabaseHeader::decode(copy).map(drop);
        Ok(Self {
            header_copies: (whole(first), whole(second), first == second),
            file: file.clone(),
            header,
            foreign_header,
            page_size_bytes: page_size,
            file_size_bytes,
            last_page: last_page(file_size_bytes, page_size),
        })
    }

    /// The page size named by the first header, or by a second one where one can be.
    async fn page_size(file: &F, size: u64) -> Result<usize, PeekError> {
        let mut first_damage = None;
        for offset in [0, 4096, 8192, 16_384, 32_768] {
            if offset + PEEK_BYTES as u64 > size {
                break;
            }
            let (bytes, read) = file.read(offset, Buffer::zeroed(PEEK_BYTES)).await;
            read.map_err(PeekError::Io)?;
            match DatabaseHeader::peek_page_size(&bytes) {
                Ok(size) if offset == 0 || offset == size as u64 => return Ok(size),
                Ok(size) => first_damage.get_or_insert(HeaderDamage::PageSize(size as u32)),
                Err(damage) => first_damage.get_or_insert(damage),
            };
        }
        Err(PeekError::Damage(
            first_damage.unwrap_or(HeaderDamage::NoMagic),
        ))
    }

    pub(crate) fn file_name(&self) -> String {
        self.file.name()
    }

    /// Reads `count` pages in a row, in one request if the storage lets it.
    pub(crate) async fn pages(&self, first: u32, count: u32) -> Vec<Result<Page, PageProblem>> {
        let size = self.page_size_bytes;
        let buffer = Buffer::zeroed(count as usize * size);
        let (buffer, read) = self.file.read(page_offset(first, size), buffer).await;
        match read {
            Ok(()) => {
                let pages = buffer.chunks_exact(size).zip(first..);
                pages
                    .map(|(bytes, number)| examined(bytes, number))
                    .collect()
            }
            Err(error) if count == 1 => vec![Err(PageProblem::Unreadable(error))],
            Err(_) => {
                // Find out which of them it is.
                let mut pages = Vec::new();
                for number in first..first + count {
                    pages.append(&mut Box::pin(self.pages(number, 1)).await);
                }
                pages
            }
        }
    }

    /// Reads one page and verifies its checksum.
    pub(crate) async fn page(&self, number: u32) -> Result<Page, PageProblem> {
        let page = self.pages(number, 1).await.pop();
        page.unwrap_or(Err(PageProblem::Damage(PageDamage::NeverWritten)))
    }
}

/// The database time of the root page of a file with pages of this size; `None` if that cannot be read.
pub(crate) async fn root_dbtime<F: File>(file: &F, page_size_bytes: usize) -> Option<u64> {
    let root = DATABASE_ROOT.root;
    let offset = page_offset(root, page_size_bytes);
    let (page, read) = file.read(offset, Buffer::zeroed(page_size_bytes)).await;
    read.ok()?;
    verify(&page, root).ok()?;
    Some(PageView::new(&page).dbtime())
}

enum PeekError {
    Io(IoError),
    Damage(HeaderDamage),
}

fn examined(bytes: &[u8], number: u32) -> Result<Page, PageProblem> {
    verify(bytes, number).map_err(PageProblem::Damage)?;
    PageView::new(bytes)
        .check_structure()
        .map_err(PageProblem::Structure)?;
    Ok(Page {
        number,
        bytes: bytes.to_vec(),
    })
}
