//! The controllers together: paths of hosts, failover partners, and the link between them.

use std::ops::{Index, IndexMut};

use crate::SECTOR_BYTES;
use crate::controller::Controller;
use crate::payload::Payload;
use crate::settings::{ArraySettings, HostPaths, ns_of_us};

/// One or two controllers, indexed by their number.
#[derive(Debug)]
pub(super) struct Controllers<P> {
    list: Vec<Controller<P>>,
    host_paths: HostPaths,
    /// The controller that hosts used last, if they use all in turn.
    last_path: usize,
    link_transfer_ns: u64,
    link_ns_per_sector: f64,
    /// Controllers whose waiting requests may be able to go on.
    woken: Vec<u8>,
}

impl<P> Index<usize> for Controllers<P> {
    type Output = Controller<P>;

    #[inline]
    fn index(&self, number: usize) -> &Controller<P> {
        &self.list[number]
    }
}

impl<P> IndexMut<usize> for Controllers<P> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut Controller<P> {
        &mut self.list[number]
    }
}

impl<P: Payload> Controllers<P> {
    pub fn new(settings: &ArraySettings) -> Self {
        let controllers = &settings.controllers;
        let link = controllers.link.as_ref();
        let ns_per_sector = |rate_mb_per_s: f64| SECTOR_BYTES as f64 * 1e3 / rate_mb_per_s;
        Self {
            list: (0..controllers.count)
                .map(|_| Controller::new(controllers, &settings.cache, settings.volumes.len()))
                .collect(),
            host_paths: controllers.host_paths,
            last_path: 0,
            link_transfer_ns: link.map_or(0, |link| ns_of_us(link.transfer_us)),
            link_ns_per_sector: link.map_or(0.0, |link| ns_per_sector(link.rate_mb_per_s)),
            woken: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Controller<P>> {
        self.list.iter()
    }

    /// The failover partner of a controller, if there are two.
    #[inline]
    pub fn partner(&self, number: usize) -> Option<usize> {
        (self.list.len() == 2).then(|| 1 - number)
    }

    /// Whether a controller has a failover partner that works.
    #[inline]
    pub fn partner_works(&self, number: usize) -> bool {
        let partner = self.partner(number);
        partner.is_some_and(|partner| self.list[partner].availability.works())
    }

    /// The controller that hosts send the next request of a volume to, given the volume's owner;
    /// `None` if none works.
    pub fn next_path(&mut self, owner: usize) -> Option<usize> {
        let count = self.list.len();
        let first = match self.host_paths {
            HostPaths::Owner => owner,
            HostPaths::All => {
                self.last_path = (self.last_path + 1) % count;
                self.last_path
            }
        };
        (0..count)
            .map(|step| (first + step) % count)
            .find(|&number| self.list[number].availability.works())
    }

    /// Sends sectors over the link that leads away from a controller; gives the time at which they
    /// have crossed it.
    pub fn send_over_link(&mut self, now_ns: u64, from: usize, sectors: u32) -> u64 {
        let service_ns =
            self.link_transfer_ns + (f64::from(sectors) * self.link_ns_per_sector) as u64;
        self.list[from].link.enter(now_ns, service_ns)
    }

    /// Two controllers at once: one to take from, one to give to.
    pub fn pair(&mut self, from: usize, to: usize) -> (&mut Controller<P>, &mut Controller<P>) {
        let [from, to] = self
            .list
            .get_disjoint_mut([from, to])
            .unwrap_or_else(|_| unreachable!("a controller is not its own failover partner"));
        (from, to)
    }

    /// Has the waiting requests of a controller looked at soon.
    pub fn wake(&mut self, number: usize) {
        self.woken.push(number as u8);
    }

    /// The next controller whose waiting requests may be able to go on.
    #[inline]
    pub fn pop_woken(&mut self) -> Option<usize> {
        self.woken.pop().map(usize::from)
    }
}
