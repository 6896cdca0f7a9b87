//! Faults done to single pages beneath a store: each is found, and called what it is.

mod readers;

use super::common::small_settings;
use edb::cache::{PageError, PageStore};
use edb::format::database_header::Signature;
use edb::format::page::{PageChange, PageFlags, seal};
use edb::integrity::{DamageClass, DbtimeRange, PageFinding, Persistence as Lasting};
use edb::position::PageNumber;
use edb::store::FileStore;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::{Fault, FaultEffect, SimulatedDisk, SimulatedFile, SimulatedOptions};
use runtime::trace::NoObserver;
use runtime::{Buffer, Directory, File, Handle, IoCause, IoOperation, Persistence, Runtime};
use std::rc::Rc;

const PAGES: u32 = 40;

/// A store of pages whose every version is kept, so that older ones can be put back.
struct Bench {
    handle: Handle,
    disk: SimulatedDisk,
    file: SimulatedFile,
    store: FileStore<SimulatedFile>,
    page_bytes: usize,
    range: DbtimeRange,
    dbtime: u64,
    random: Xoshiro256PlusPlus,
    /// By page number less one: what was written, oldest first.
    history: Vec<Vec<Buffer>>,
}

fn range_of(random: u32) -> DbtimeRange {
    DbtimeRange::of_new(Signature {
        random,
        ..Signature::default()
    })
}

/// A page with contents that depend on its number and its database time.
fn page_of(number: u32, dbtime: u64, page_bytes: usize) -> Buffer {
    let mut bytes = Buffer::zeroed(page_bytes);
    let mut page = PageChange::new(&mut bytes);
    page.format_new(number, 7, PageFlags::LEAF);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(dbtime ^ u64::from(number) << 40);
    let data: Vec<u8> = (0..page_bytes * 3 / 4).map(|_| random.random()).collect();
    let key = dbtime.to_be_bytes();
    page.insert_node(0, &key, &data, edb::format::page::NodeFlags::NONE)
        .expect("it fits");
    page.set_dbtime(dbtime);
    seal(&mut bytes, number);
    bytes
}

impl Bench {
    async fn new(handle: &Handle, page_bytes: usize, seed: u64) -> Self {
        let disk = SimulatedDisk::new(handle, SimulatedOptions::instant());
        let file = disk.directory("d").create("a.edb").await.expect("created");
        let settings = small_settings(page_bytes);
        let store = FileStore::new(handle, file.clone(), &settings, Rc::new(NoObserver));
        let range = range_of(seed as u32);
        store.versions().set_range(range, range.base);
        store
            .extend_to(PAGES + 8, IoCause::Build)
            .await
            .expect("extended");
        let mut bench = Self {
            handle: handle.clone(),
            disk,
            file,
            store,
            page_bytes,
            range,
            dbtime: range.base,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            history: (0..PAGES).map(|_| Vec::new()).collect(),
        };
        for page in 1..=PAGES {
            for _ in 0..2 {
                bench.write(page).await;
            }
        }
        bench
    }

    /// Writes the next version of a page through the store.
    async fn write(&mut self, page: u32) {
        self.dbtime += 1;
        let bytes = page_of(page, self.dbtime, self.page_bytes);
        self.history[page as usize - 1].push(bytes.copied());
        let written = self
            .store
            .write(PageNumber(page), vec![Rc::new(bytes)], IoCause::Database);
        written.await.expect("written");
    }

    /// Puts bytes on the disk behind the back of the store.
    async fn put(&self, page: u32, bytes: &Buffer) {
        let offset = PageNumber(page).offset_bytes(self.page_bytes);
        let write = self
            .file
            .write(offset, Rc::new(bytes.copied()), Persistence::Durable);
        write.await.expect("put");
    }

    async fn restore(&self, page: u32) {
        let newest = self.history[page as usize - 1].last().expect("written");
        self.put(page, newest).await;
    }

    fn older(&mut self, page: u32) -> Buffer {
        let history = &self.history[page as usize - 1];
        let place = self.random.random_range(0..history.len() - 1);
        history[place].copied()
    }

    fn newest(&self, page: u32) -> Buffer {
        self.history[page as usize - 1]
            .last()
            .expect("written")
            .copied()
    }

    async fn read(&self, page: u32) -> Result<Buffer, PageError> {
        self.store
            .read_page(PageNumber(page), IoCause::Database)
            .await
    }

    async fn finding(&self, page: u32) -> PageFinding {
        let error = self.read(page).await.expect_err("the fault is found");
        assert_eq!(error.page, PageNumber(page));
        let finding = error.finding().expect("it is about the bytes").clone();
        assert_eq!(
            finding.persistence,
            Lasting::Medium { reads: 4 },
            "{finding}"
        );
        let offset = PageNumber(page).offset_bytes(self.page_bytes);
        assert_eq!(finding.offset_bytes, offset);
        finding
    }

    async fn expect(&self, page: u32, class: DamageClass) -> PageFinding {
        let finding = self.finding(page).await;
        assert_eq!(finding.class, class, "page {page}: {finding}");
        finding
    }

    async fn expect_all_right(&self) {
        let results = self
            .store
            .read(PageNumber(1), PAGES, IoCause::Maintenance)
            .await;
        for result in results {
            result.unwrap_or_else(|error| panic!("false alarm: {error}"));
        }
    }

    fn any_page(&mut self) -> u32 {
        self.random.random_range(1..=PAGES)
    }

    /// Does one fault of that kind and expects it to be found and called by its name.
    async fn fault(&mut self, kind: u32) {
        let page = self.any_page();
        match kind {
            0 => self.lost_write(page).await,
            1 => self.stale(page).await,
            2 => self.misdirected_write(page).await,
            3 => self.another_page(page).await,
            4 => self.foreign(page).await,
            5 => self.torn(page).await,
            6 => self.zeroed(page).await,
            7 => self.put_future_page(page).await,
            8 => self.bit_flip(page).await,
            9 => self.garbled(page).await,
            _ => self.read_once_wrong(page).await,
        }
    }

    async fn lost_write(&mut self, page: u32) {
        let lose = Fault::once(IoOperation::Write, 1, FaultEffect::LoseWrite);
        self.disk.set_fault(lose);
        self.write(page).await;
        self.disk.clear_faults();
        let finding = self.expect(page, DamageClass::LostWrite).await;
        let last = finding.last_write.expect("it is remembered");
        assert_eq!(last.dbtime, self.dbtime);
        assert!(
            finding
                .found_dbtime
                .is_some_and(|found| found < last.dbtime)
        );
        assert_eq!(finding.ese_error().0, -1119);
        self.restore(page).await;
    }

    async fn stale(&mut self, page: u32) {
        let older = self.older(page);
        self.put(page, &older).await;
        self.expect(page, DamageClass::LostWrite).await;
        self.restore(page).await;
    }

    async fn misdirected_write(&mut self, page: u32) {
        let other = 1 + page % PAGES;
        let by_bytes = (i64::from(other) - i64::from(page)) * self.page_bytes as i64;
        let effect = FaultEffect::MisdirectWrite { by_bytes };
        self.disk
            .set_fault(Fault::once(IoOperation::Write, 1, effect));
        self.write(page).await;
        self.disk.clear_faults();
        self.expect(page, DamageClass::LostWrite).await;
        let finding = self.expect(other, DamageClass::Misdirected).await;
        let misplaced = finding.misplaced.expect("it names the page");
        assert_eq!((misplaced.number, misplaced.is_newest), (page, Some(true)));
        self.restore(page).await;
        self.restore(other).await;
    }

    async fn another_page(&mut self, page: u32) {
        let other = 1 + page % PAGES;
        let older = self.older(other);
        self.put(page, &older).await;
        let finding = self.expect(page, DamageClass::Misdirected).await;
        let misplaced = finding.misplaced.expect("it names the page");
        assert_eq!(
            (misplaced.number, misplaced.is_newest),
            (other, Some(false))
        );
        self.restore(page).await;
    }

    async fn foreign(&mut self, page: u32) {
        let stranger = range_of(self.range.base as u32 ^ 0x5EED_0001);
        assert_ne!(stranger, self.range);
        let same_number = self.random.random_range(0..2) == 0;
        let number = if same_number { page } else { 1 + page % PAGES };
        let bytes = page_of(number, stranger.base + 5, self.page_bytes);
        self.put(page, &bytes).await;
        self.expect(page, DamageClass::Foreign).await;
        self.restore(page).await;
    }

    async fn torn(&mut self, page: u32) {
        let (mut bytes, older) = (self.newest(page), self.older(page));
        let sectors = self.page_bytes / 512;
        // Behind the contents both are the same.
        let cut = self.random.random_range(1..sectors * 3 / 4) * 512;
        let begins_older = self.random.random_range(0..2) == 0;
        match begins_older {
            true => bytes[..cut].copy_from_slice(&older[..cut]),
            false => bytes[cut..].copy_from_slice(&older[cut..]),
        }
        self.put(page, &bytes).await;
        let finding = self.finding(page).await;
        assert_eq!(finding.ese_error().0, -1018);
        let wrong = finding.wrong_blocks;
        let blocks = if self.page_bytes < 16_384 { 1 } else { 4 };
        // Older parts behind a beginning that is right may as well be bytes that are damaged, and small pages do
        // not say which page they are.
        let class = match begins_older && blocks == 4 {
            true => DamageClass::Torn,
            false => DamageClass::Checksum,
        };
        assert_eq!((finding.class, wrong.blocks), (class, blocks), "{finding}");
        assert!(wrong.wrong() > 0, "{finding}");
        self.restore(page).await;
    }

    async fn garbled(&mut self, page: u32) {
        let mut bytes = self.newest(page);
        let place = self.random.random_range(100..self.page_bytes - 100);
        for byte in &mut bytes[place..place + 3] {
            *byte = !*byte;
        }
        self.put(page, &bytes).await;
        let finding = self.expect(page, DamageClass::Checksum).await;
        assert_eq!(finding.ese_error().0, -1018);
        self.restore(page).await;
    }

    async fn zeroed(&mut self, page: u32) {
        self.put(page, &Buffer::zeroed(self.page_bytes)).await;
        let finding = self.expect(page, DamageClass::Zeroed).await;
        assert_eq!(finding.ese_error().0, -1019);
        self.restore(page).await;
    }

    async fn put_future_page(&mut self, page: u32) {
        let later = self.random.random_range(1..1000);
        let bytes = page_of(page, self.dbtime + later, self.page_bytes);
        self.put(page, &bytes).await;
        self.expect(page, DamageClass::FromTheFuture).await;
        self.restore(page).await;
    }

    async fn bit_flip(&mut self, page: u32) {
        let mut bytes = self.newest(page);
        let byte = self.random.random_range(100..self.page_bytes - 100);
        let bit = self.random.random_range(0..8_u8);
        bytes[byte] ^= 1 << bit;
        self.put(page, &bytes).await;
        let finding = self.expect(page, DamageClass::Checksum).await;
        let wrong = finding.wrong_bit.expect("it is located");
        assert_eq!((wrong.byte, wrong.bit), (byte, bit));
        self.restore(page).await;
    }

    /// The disk is right, and returns a wrong bit for some reads.
    async fn read_once_wrong(&mut self, page: u32) {
        let wrong_reads = self.random.random_range(1..=3);
        let flip = Fault::once(IoOperation::Read, 1, FaultEffect::FlipBit);
        self.disk.set_fault(Fault {
            count: u64::from(wrong_reads),
            ..flip
        });
        let bytes = self.read(page).await.expect("it is right in the end");
        self.disk.clear_faults();
        assert_eq!(bytes[..], self.newest(page)[..]);
        let noted = self.store.take_settled();
        let finding = noted[0].finding().expect("it is about the bytes");
        assert_eq!(noted.len(), 1);
        assert_eq!(finding.persistence, Lasting::Transient { wrong_reads });
    }
}

#[test]
fn every_fault_is_found_and_called_by_its_name() {
    let mut faults = 0;
    for (page_bytes, rounds) in [(4096, 50), (8192, 30), (32_768, 30)] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        faults += runtime.block_on(async move {
            let mut bench = Bench::new(&handle, page_bytes, 11 + page_bytes as u64).await;
            let mut faults = 0;
            for _ in 0..rounds {
                for kind in 0..11 {
                    bench.fault(kind).await;
                    faults += 1;
                    let page = bench.any_page();
                    bench.write(page).await;
                }
                bench.expect_all_right().await;
                assert_eq!(bench.store.take_settled(), []);
            }
            faults
        });
    }
    assert!(faults >= 1000, "{faults}");
}

/// A page that is wrong on the disk, and that the owner of the file writes anew while it is read again.
#[test]
fn a_wrong_page_that_is_written_anew_was_not_wrong_in_its_reads_alone() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        // It is read again after 1, 101 and 901 ms.
        for (after_ms, wrong_reads) in [(0, 1), (50, 2), (500, 3)] {
            let mut bench = Bench::new(&handle, 8192, 17).await;
            let older = bench.older(5);
            bench.put(5, &older).await;
            let (store, clock) = (bench.store.clone(), handle.clone());
            let page = page_of(5, bench.dbtime + 1, 8192);
            let writer = handle.spawn(async move {
                clock.sleep_ns(after_ms * 1_000_000).await;
                let written = store.write(PageNumber(5), vec![Rc::new(page)], IoCause::Database);
                written.await.expect("written");
            });
            bench.read(5).await.expect("it is right in the end");
            writer.await;
            let noted = bench.store.take_settled();
            let finding = noted[0].finding().expect("it is about the bytes");
            assert_eq!(finding.class, DamageClass::LostWrite);
            assert_eq!(finding.persistence, Lasting::Rewritten { wrong_reads });
        }
    });
}

#[test]
fn three_lost_writes_in_a_row_are_seen_which_two_bits_do_not_show() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let mut bench = Bench::new(&handle, 4096, 5).await;
        // ESE stores a flush type of 1 to 3 in the page, which the next write turns on by one.
        let flush_type = |writes: u64| writes % 3 + 1;
        for lost in 1..=12 {
            let lose = Fault::once(IoOperation::Write, 1, FaultEffect::LoseWrite);
            bench.disk.set_fault(Fault {
                count: lost,
                ..lose
            });
            for _ in 0..lost {
                bench.write(9).await;
            }
            bench.disk.clear_faults();
            if lost % 3 == 0 {
                assert_eq!(flush_type(100), flush_type(100 + lost), "two bits agree");
            }
            bench.expect(9, DamageClass::LostWrite).await;
            bench.restore(9).await;
        }
    });
}
