//! The clock of a replay: requests go into the array, their ends come out.

use std::io::BufRead;

use array::{Array, FirstWrite, HostCompletion, HostOperation, HostRequest};
use trace::{FirstWriteOfTrace, TraceError, TraceReader, TraceRequest};
use workload::progress::StopRequest;

use super::arrivals::{Due, Line, Requests};
use super::outcome::Ended;
use super::plan::{Plan, PlannedVolume, refusal};
use super::record::Record;
use super::responses::Row;
use execution::Error;

const SECTOR_BYTES: u64 = 512;

/// Turns of the clock between two checks for a request to stop.
const TURNS_PER_CHECK: u32 = 1024;

impl<R: BufRead> Requests for TraceReader<R> {
    fn next_request(&mut self) -> Result<Option<TraceRequest>, TraceError> {
        TraceReader::next_request(self)
    }
}

/// Replays to the end of the trace.
pub fn drive<S: Requests>(
    plan: &Plan,
    requests: S,
    record: &mut Record,
    stop: &StopRequest,
) -> Result<Ended, Error> {
    let mut array = Array::<()>::new(&plan.planned.settings, plan.seed)
        .map_err(|error| Error::usage(error.to_string(), ""))?;
    fill(&mut array, plan)?;
    let line = Line::new(
        requests,
        plan.discipline,
        plan.settings.speed,
        plan.until_ns,
    )
    .map_err(|error| refusal(&error))?;
    let mut clock = Clock {
        volumes: &plan.volumes,
        array,
        line,
        inside: Vec::new(),
        free: Vec::new(),
        completed: Vec::new(),
    };
    record.begin(&mut clock.array);
    let mut turns = 0;
    let mut now_ns = 0;
    while !clock.line.is_over() {
        turns += 1;
        if turns % TURNS_PER_CHECK == 0 && stop.is_stopped() {
            record.end_sample(&mut clock.array, now_ns);
            return Ok(Ended {
                at_ns: now_ns,
                interrupted: true,
            });
        }
        now_ns = clock.turn(now_ns, record)?;
    }
    record.end_sample(&mut clock.array, now_ns);
    Ok(Ended {
        at_ns: now_ns,
        interrupted: false,
    })
}

/// Fills the volumes as they were before the trace; no time passes.
fn fill(array: &mut Array<()>, plan: &Plan) -> Result<(), Error> {
    let how = match plan.settings.first_write {
        FirstWriteOfTrace::Auto | FirstWriteOfTrace::Sequential => FirstWrite::Sequential,
        FirstWriteOfTrace::Random => FirstWrite::Random,
        FirstWriteOfTrace::None => return Ok(()),
    };
    for volume in &plan.volumes {
        let filled = array.lay_out(volume.id, 0, volume.fill_sectors, how);
        filled.map_err(|error| {
            Error::usage(
                format!("The volume for '{}' cannot be filled: {error}", volume.name),
                "Give the pool more disks, or --set trace.first_write=none for empty volumes.",
            )
        })?;
    }
    Ok(())
}

struct Clock<'a, S> {
    volumes: &'a [PlannedVolume],
    array: Array<()>,
    line: Line<S>,
    /// Requests inside, by their tags.
    inside: Vec<Due>,
    free: Vec<u32>,
    completed: Vec<HostCompletion<()>>,
}

impl<S: Requests> Clock<'_, S> {
    /// Goes on to the next thing that happens; gives its time.
    fn turn(&mut self, now_ns: u64, record: &mut Record) -> Result<u64, Error> {
        let next_request_ns = self.line.next_ns().map(|at_ns| at_ns.max(now_ns));
        // While requests come by their own times, the ends of others need not be waited for.
        let next_end_ns = match self.line.is_open() && next_request_ns.is_some() {
            true => None,
            false => self.array.next_event_ns(),
        };
        let next_ns = [next_request_ns, next_end_ns].into_iter().flatten().min();
        let Some(next_ns) = next_ns else {
            return Err(Error::environment(
                "The simulation stopped with requests outstanding.",
                "This is a bug of the model; please report it with the trace and the array.",
            ));
        };
        let at_ns = next_ns.min(record.next_sample_ns());
        self.array.advance_to(at_ns, &mut self.completed);
        let mut completed = std::mem::take(&mut self.completed);
        for end in completed.drain(..) {
            self.end(&end, record)?;
        }
        self.completed = completed;
        if at_ns == record.next_sample_ns() {
            record.end_sample(&mut self.array, at_ns);
        }
        while self.line.next_ns().is_some_and(|due_ns| due_ns <= at_ns) {
            match self.line.take().map_err(|error| refusal(&error))? {
                Some(due) => self.submit(at_ns, due, record),
                None => break,
            }
        }
        Ok(at_ns)
    }

    fn submit(&mut self, now_ns: u64, due: Due, record: &mut Record) {
        let request = &due.request;
        let volume = &self.volumes[request.volume as usize];
        let (first_sector, sectors) = volume.place(request, record);
        let tag = match self.free.pop() {
            Some(tag) => tag,
            None => {
                self.inside.push(due);
                (self.inside.len() - 1) as u32
            }
        };
        self.inside[tag as usize] = due;
        record.sent(&due, now_ns, self.line.inside());
        self.array.submit(
            now_ns,
            HostRequest {
                tag: u64::from(tag),
                volume: volume.id,
                operation: request.operation,
                first_sector,
                sectors,
                payload: (),
            },
        );
    }

    fn end(&mut self, end: &HostCompletion<()>, record: &mut Record) -> Result<(), Error> {
        let due = self.inside[end.tag as usize];
        self.free.push(end.tag as u32);
        let ended = end.result.map(|()| end.completed_ns);
        record.ended(Row { due, ended }, end.completed_ns)?;
        let ended = self.line.ended(end.completed_ns);
        ended.map_err(|error| refusal(&error))?;
        Ok(())
    }
}

impl PlannedVolume {
    /// The sectors that a request goes to.
    fn place(&self, request: &TraceRequest, record: &mut Record) -> (u64, u32) {
        let (first, sectors) = request.sectors();
        if request.operation == HostOperation::Flush {
            return (0, 0);
        }
        let capacity = self.capacity_bytes / SECTOR_BYTES;
        let sectors = sectors.min(capacity);
        let mut first = first;
        if first + sectors > capacity {
            record.wrapped();
            first %= capacity;
            first = first.min(capacity - sectors);
        }
        (first, u32::try_from(sectors).unwrap_or(u32::MAX))
    }
}
