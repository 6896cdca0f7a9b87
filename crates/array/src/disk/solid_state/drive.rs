//! The disk: commands pass the controller in order, pages are sensed by dies side by side, bytes
//! pass channels and the interface, writes end in the protected buffer.
//!
//! Everything is first come, first served at each place, so the end of a command is known when it
//! is submitted. Channels and interface are limits of rate: bytes of a later command may pass
//! before those of an earlier one whose die is slower. What a write costs is paid by the dies in
//! the background ([`super::write_state`]); reads go before programming, and wait at most for the
//! page being programmed.

use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::check;
use super::description::SolidStateDescription;
use super::flash::Flash;
use super::write_state::WriteState;
use crate::Direction;
use crate::disk::in_service::{InService, Service};
use crate::disk::interface::assert_servable;
use crate::disk::{Disk, DiskCompletion, DiskCounters, DiskRequest, ServiceParts};

/// A solid-state disk. See the module.
#[derive(Debug, Clone)]
pub struct SolidState {
    flash: Arc<Flash>,
    random: Xoshiro256PlusPlus,
    /// When the controller takes the next command, with the fraction of a nanosecond.
    command_free_ns: f64,
    die_free_ns: Vec<u64>,
    channel_free_ns: Vec<u64>,
    /// Reads, writes; both are the same one when the interface is half duplex.
    interface_free_ns: [u64; 2],
    writes: WriteState,
    in_service: InService,
    counters: DiskCounters,
}

impl SolidState {
    /// The disk of a description; `None` when [`check::check`] finds something wrong with it.
    pub(crate) fn new(description: &SolidStateDescription, seed: u64) -> Option<Self> {
        check::check(description, "")
            .is_empty()
            .then(|| Self::unused(Arc::new(Flash::new(description)), seed))
    }

    /// An unused disk of the same make; it shares the tables of this one.
    pub(crate) fn another(&self, seed: u64) -> Self {
        Self::unused(Arc::clone(&self.flash), seed)
    }

    fn unused(flash: Arc<Flash>, seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            command_free_ns: 0.0,
            die_free_ns: vec![0; flash.dies],
            channel_free_ns: vec![0; flash.channels],
            interface_free_ns: [0; 2],
            writes: WriteState::new(&flash),
            in_service: InService::new(),
            counters: DiskCounters::default(),
            flash,
        }
    }

    /// When the controller takes a command submitted now.
    #[inline]
    fn take_command(&mut self, now_ns: u64) -> u64 {
        let start_ns = self.command_free_ns.max(now_ns as f64);
        self.command_free_ns = start_ns + self.flash.command_interval_ns;
        (start_ns as u64).max(now_ns)
    }

    /// Puts bytes on the interface; when the last of them could have passed.
    #[inline]
    fn pass_interface(&mut self, direction: Direction, start_ns: u64, transfer_ns: u64) -> u64 {
        let way = usize::from(self.flash.full_duplex && direction == Direction::Write);
        let free_ns = &mut self.interface_free_ns[way];
        *free_ns = (*free_ns).max(start_ns) + transfer_ns;
        *free_ns
    }

    /// The end of a read that the controller takes at `start_ns`.
    fn read(&mut self, start_ns: u64, request: &DiskRequest) -> (u64, ServiceParts) {
        let end_sector = request.first_sector + u64::from(request.sectors);
        let partial_ns = self.partial_block_ns(request.first_sector, end_sector);
        let ready_ns = start_ns + self.flash.command_latency_ns + partial_ns;
        let programming_share = self.writes.programming_share(&self.flash);
        let stripe_sectors = self.flash.stripe_sectors;
        let mut sector = request.first_sector;
        let (mut first_ns, mut last_ns, mut last_sectors) = (u64::MAX, 0, 0);
        while sector < end_sector {
            let stripe_end = (sector / stripe_sectors + 1) * stripe_sectors;
            let sectors = stripe_end.min(end_sector) - sector;
            let passed_ns =
                self.read_stripe(start_ns, ready_ns, sector, sectors, programming_share);
            first_ns = first_ns.min(passed_ns);
            if passed_ns > last_ns {
                (last_ns, last_sectors) = (passed_ns, sectors);
            }
            sector += sectors;
        }
        let sector_ns = self.flash.interface_ns_per_sector;
        let transfer_ns = (f64::from(request.sectors) * sector_ns) as u64;
        let interface_ns = self.pass_interface(Direction::Read, start_ns, transfer_ns);
        // The interface cannot have begun before the first stripe, nor end before the last.
        let finish_ns = interface_ns
            .max(first_ns + transfer_ns)
            .max(last_ns + (last_sectors as f64 * sector_ns) as u64);
        let parts = ServiceParts {
            overhead_ns: self.flash.command_latency_ns + partial_ns,
            transfer_ns,
            ..ServiceParts::default()
        };
        (finish_ns, parts)
    }

    /// What a command takes more that covers a part of a block.
    #[inline]
    fn partial_block_ns(&self, first_sector: u64, end_sector: u64) -> u64 {
        match Flash::partial_blocks(first_sector, end_sector) {
            0 => 0,
            _ => self.flash.partial_block_ns,
        }
    }

    /// Senses sectors of a stripe and moves them over its channel; when they have passed.
    #[inline]
    fn read_stripe(
        &mut self,
        start_ns: u64,
        ready_ns: u64,
        first_sector: u64,
        sectors: u64,
        programming_share: f64,
    ) -> u64 {
        let die = self.flash.die_of(first_sector / self.flash.stripe_sectors);
        let bits = self.random.next_u64();
        let sense_ns = self.flash.read_ns(first_sector, sectors, bits);
        let mut die_ready_ns = ready_ns;
        if programming_share > 0.0 {
            // The same draw says whether the die is programming and how far it has got.
            let draw = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            if draw < programming_share {
                let left = draw / programming_share * self.flash.program_suspend_ns;
                die_ready_ns += left as u64;
            }
            self.writes.lose(sense_ns);
        }
        let die_free_ns = &mut self.die_free_ns[die];
        *die_free_ns = (*die_free_ns).max(die_ready_ns) + sense_ns as u64;
        let sensed_ns = *die_free_ns;
        let transfer_ns = (sectors as f64 * self.flash.channel_ns_per_sector) as u64;
        let channel_free_ns = &mut self.channel_free_ns[die % self.flash.channels];
        *channel_free_ns = (*channel_free_ns).max(start_ns) + transfer_ns;
        (sensed_ns + transfer_ns).max(*channel_free_ns)
    }

    /// The end of a write that the controller takes at `start_ns`: in the buffer.
    fn write(&mut self, start_ns: u64, request: &DiskRequest) -> (u64, ServiceParts) {
        let transfer_ns = (f64::from(request.sectors) * self.flash.interface_ns_per_sector) as u64;
        let interface_ns = self.pass_interface(Direction::Write, start_ns, transfer_ns);
        let room_ns = self
            .writes
            .take(&self.flash, request.first_sector, request.sectors);
        let end_sector = request.first_sector + u64::from(request.sectors);
        let partial_ns = self.partial_block_ns(request.first_sector, end_sector);
        let latency_ns = self.flash.write_latency_ns + partial_ns;
        let arrived_ns = start_ns + latency_ns + transfer_ns;
        let finish_ns = arrived_ns.max(interface_ns).max(start_ns + room_ns);
        let parts = ServiceParts {
            overhead_ns: latency_ns,
            transfer_ns,
            ..ServiceParts::default()
        };
        (finish_ns, parts)
    }
}

impl Disk for SolidState {
    fn capacity_sectors(&self) -> u64 {
        self.flash.capacity_sectors
    }

    #[inline]
    fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        assert_servable(self, &request);
        self.counters.arrive(now_ns);
        let started_ns = self.take_command(now_ns);
        self.writes.drain(&self.flash, started_ns);
        let (finish_ns, parts) = match request.direction {
            Direction::Read => self.read(started_ns, &request),
            Direction::Write => self.write(started_ns, &request),
        };
        let service = Service {
            request,
            submitted_ns: now_ns,
            started_ns,
            parts,
        };
        self.in_service.begin(finish_ns, service);
    }

    #[inline]
    fn next_completion_ns(&self) -> Option<u64> {
        self.in_service.next_end_ns()
    }

    #[inline]
    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        self.in_service.end(now_ns, &mut self.counters)
    }

    fn queued(&self) -> usize {
        self.counters.inside as usize
    }

    fn on_board_queue_depth(&self) -> usize {
        self.flash.on_board_queue_depth
    }

    fn counters(&self) -> &DiskCounters {
        &self.counters
    }
}
