//! The whole array: what a host talks to and what drives the model on.

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::Complaint;
use crate::calendar::Calendar;
use crate::controller::{Controller, ServiceTimes};
use crate::host::{FirstWrite, HostCompletion, HostError, HostOperation, HostRequest, VolumeId};
use crate::payload::Payload;
use crate::settings::{ArraySettings, VolumeSettings};
use crate::slab::Slab;

/// Why there is no array.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArrayError {
    /// The description breaks rules.
    #[error("The description of the array breaks {} of its rules; the first is {}", .0.len(), .0[0])]
    Settings(Vec<Complaint>),
}

/// Something that breaks or is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk of that number fails.
    FailDisk(u32),
    /// The failed disk of that number is replaced by a new, empty one.
    ReplaceDisk(u32),
    /// The controller of that number stops working.
    FailController(u32),
    /// The failed controller of that number works again.
    RestoreController(u32),
    /// The cache of that controller would not survive a loss of power any more.
    LoseCacheBattery(u32),
    /// The cache of that controller would survive a loss of power again.
    RestoreCacheBattery(u32),
}

/// Sectors kept together in the contents of a volume.
const CHUNK_SECTORS: u64 = 128;

/// Time of the storage below the controllers, ns, until disks stand there.
const STORE_NS: u64 = 100_000;

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrived(u32),
    Served(u32),
    Stored(u32),
    Ended(u32),
    Fault(Fault),
}

#[derive(Debug, Default)]
struct Flight<P> {
    tag: u64,
    volume: u16,
    operation: Option<HostOperation>,
    first_sector: u64,
    sectors: u32,
    payload: P,
    submitted_ns: u64,
    entered_ns: u64,
    controller: u8,
    port: u8,
    result: Option<HostError>,
}

/// An array with all that is stored in it.
pub struct Array<P: Payload> {
    calendar: Calendar<Event>,
    controllers: Vec<Controller>,
    service: ServiceTimes,
    volumes: Vec<VolumeSettings>,
    contents: FxHashMap<(u16, u64), P>,
    flights: Slab<Flight<P>>,
    now_ns: u64,
}

impl<P: Payload> Array<P> {
    /// Builds the array that `settings` describe. Everything random in it follows from `seed`.
    ///
    /// # Errors
    ///
    /// When the settings break a rule: all complaints.
    pub fn new(settings: &ArraySettings, _seed: u64) -> Result<Self, ArrayError> {
        let complaints = settings.check();
        if !complaints.is_empty() {
            return Err(ArrayError::Settings(complaints));
        }
        Ok(Self {
            calendar: Calendar::new(),
            controllers: (0..settings.controllers.count)
                .map(|_| Controller::new(&settings.controllers))
                .collect(),
            service: ServiceTimes::new(&settings.controllers.service),
            volumes: settings.volumes.clone(),
            contents: FxHashMap::default(),
            flights: Slab::new(),
            now_ns: 0,
        })
    }

    /// Capacity of a volume in sectors; `None` if there is no such volume.
    pub fn capacity_sectors(&self, volume: VolumeId) -> Option<u64> {
        let volume = self.volumes.get(usize::from(volume.0))?;
        Some(volume.capacity_sectors())
    }

    /// Takes a request in at `now_ns`, which must not lie before any time told earlier. Its end
    /// comes out of [`Array::advance_to`].
    pub fn submit(&mut self, now_ns: u64, request: HostRequest<P>) {
        let id = self.flights.take();
        let result = self.refusal(&request);
        let owner = self
            .volumes
            .get(usize::from(request.volume.0))
            .map_or(0, |v| v.owner);
        let controller = &mut self.controllers[owner as usize];
        let port = controller.take_port();
        let is_data = result.is_none() && request.operation == HostOperation::Write;
        let sectors = if is_data { request.sectors } else { 0 };
        let arrived_ns = controller.ports[port].enter(now_ns, request.operation, sectors);
        self.flights[id] = Flight {
            tag: request.tag,
            volume: request.volume.0,
            operation: Some(request.operation),
            first_sector: request.first_sector,
            sectors: request.sectors,
            payload: request.payload,
            submitted_ns: now_ns,
            entered_ns: now_ns,
            controller: owner as u8,
            port: port as u8,
            result,
        };
        self.calendar.put(arrived_ns, Event::Arrived(id));
    }

    fn refusal(&self, request: &HostRequest<P>) -> Option<HostError> {
        let Some(capacity_sectors) = self.capacity_sectors(request.volume) else {
            return Some(HostError::NoSuchVolume);
        };
        if request.operation == HostOperation::Flush {
            return None;
        }
        let fits = request.sectors > 0
            && request.first_sector <= capacity_sectors
            && u64::from(request.sectors) <= capacity_sectors - request.first_sector;
        (!fits).then_some(HostError::OutOfRange)
    }

    /// When something happens next; `None` when nothing will unless asked for.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.calendar.next_ns()
    }

    /// Lets everything happen that is due until `now_ns`, in order, and appends what ended to
    /// `completed`.
    pub fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>) {
        while self
            .calendar
            .next_ns()
            .is_some_and(|next_ns| next_ns <= now_ns)
        {
            let Some((at_ns, event)) = self.calendar.take() else {
                break;
            };
            self.now_ns = at_ns;
            self.happen(at_ns, event, completed);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Notes a fault that happens at `at_ns`.
    pub fn inject(&mut self, at_ns: u64, fault: Fault) {
        self.calendar.put(at_ns, Event::Fault(fault));
    }

    /// Takes the space a first write would take, before the clock starts: no time passes.
    pub fn lay_out(
        &mut self,
        volume: VolumeId,
        _first_sector: u64,
        _sectors: u64,
        _first_write: FirstWrite,
    ) -> Result<(), HostError> {
        self.capacity_sectors(volume)
            .map(|_| ())
            .ok_or(HostError::NoSuchVolume)
    }

    fn happen(&mut self, now_ns: u64, event: Event, completed: &mut Vec<HostCompletion<P>>) {
        match event {
            Event::Arrived(id) => self.arrived(now_ns, id),
            Event::Served(id) => {
                let flight = &self.flights[id];
                let controller = &mut self.controllers[usize::from(flight.controller)];
                controller.processor.leave(now_ns, flight.entered_ns);
                let stores = flight.result.is_none()
                    && matches!(
                        flight.operation,
                        Some(HostOperation::Read | HostOperation::Write)
                    );
                let store_ns = if stores { STORE_NS } else { 0 };
                self.calendar.put(now_ns + store_ns, Event::Stored(id));
            }
            Event::Stored(id) => self.stored(now_ns, id),
            Event::Ended(id) => {
                let flight = &mut self.flights[id];
                let controller = &mut self.controllers[usize::from(flight.controller)];
                let port = &mut controller.ports[usize::from(flight.port)];
                port.outbound.leave(now_ns, flight.entered_ns);
                completed.push(HostCompletion {
                    tag: flight.tag,
                    submitted_ns: flight.submitted_ns,
                    completed_ns: now_ns,
                    result: flight.result.map_or(Ok(()), Err),
                    payload: std::mem::take(&mut flight.payload),
                });
                self.flights.release(id);
            }
            Event::Fault(fault) => self.fault(fault),
        }
    }

    fn fault(&mut self, fault: Fault) {
        if let Fault::FailController(number) | Fault::RestoreController(number) = fault
            && let Some(controller) = self.controllers.get_mut(number as usize)
        {
            controller.works = matches!(fault, Fault::RestoreController(_));
        }
    }

    fn arrived(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        let controller = &mut self.controllers[usize::from(flight.controller)];
        controller.ports[usize::from(flight.port)]
            .inbound
            .leave(now_ns, flight.entered_ns);
        flight.entered_ns = now_ns;
        let operation = flight.operation.unwrap_or(HostOperation::Flush);
        let served_ns = controller
            .processor
            .enter(now_ns, self.service.of(operation, flight.sectors));
        self.calendar.put(served_ns, Event::Served(id));
    }

    fn stored(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        let mut sent_sectors = 0;
        let operation = flight.operation;
        if flight.result.is_some() || operation != Some(HostOperation::Read) {
            if flight.result.is_none() && operation == Some(HostOperation::Write) {
                store(&mut self.contents, flight);
            }
            flight.payload = P::default();
        } else {
            sent_sectors = flight.sectors;
            flight.payload = load(&self.contents, flight);
        }
        flight.entered_ns = now_ns;
        let controller = &mut self.controllers[usize::from(flight.controller)];
        let port = &mut controller.ports[usize::from(flight.port)];
        self.calendar
            .put(port.send(now_ns, sent_sectors), Event::Ended(id));
    }

    /// Checks the laws that must hold at any time.
    ///
    /// # Panics
    ///
    /// If a request was made or lost inside, or Little's law is broken anywhere.
    pub fn check_laws(&self) {
        for controller in &self.controllers {
            controller.processor.check_laws(self.now_ns);
            for port in &controller.ports {
                port.inbound.check_laws(self.now_ns);
                port.outbound.check_laws(self.now_ns);
            }
        }
    }
}

/// Calls `part(chunk number, first sector in the chunk, first sector in the flight, sectors)`.
fn for_chunks<P>(flight: &Flight<P>, mut part: impl FnMut(u64, u32, u32, u32)) {
    let end = flight.first_sector + u64::from(flight.sectors);
    let mut sector = flight.first_sector;
    while sector < end {
        let within = sector % CHUNK_SECTORS;
        let sectors = (CHUNK_SECTORS - within).min(end - sector);
        let done = (sector - flight.first_sector) as u32;
        part(sector / CHUNK_SECTORS, within as u32, done, sectors as u32);
        sector += sectors;
    }
}

fn store<P: Payload>(contents: &mut FxHashMap<(u16, u64), P>, flight: &Flight<P>) {
    if !P::CARRIES_BYTES {
        return;
    }
    for_chunks(flight, |chunk, within, done, sectors| {
        contents
            .entry((flight.volume, chunk))
            .or_insert_with(|| P::zeroed(CHUNK_SECTORS as u32))
            .overlay(within, &flight.payload.part(done, sectors));
    });
}

fn load<P: Payload>(contents: &FxHashMap<(u16, u64), P>, flight: &Flight<P>) -> P {
    let mut payload = P::zeroed(flight.sectors);
    if P::CARRIES_BYTES {
        for_chunks(flight, |chunk, within, done, sectors| {
            if let Some(contents) = contents.get(&(flight.volume, chunk)) {
                payload.overlay(done, &contents.part(within, sectors));
            }
        });
    }
    payload
}
