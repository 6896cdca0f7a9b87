//! The groups of columns of `samples.csv`.

use super::{DatabaseMeters, IoMeter, Layout, OperationMeter, Stream};
use crate::histogram::LatencyHistogram;
use crate::host::{DeviceSample, HostSample};

/// What a row of `samples.csv` is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowScope {
    /// All databases together, and the host.
    Total,
    /// One database.
    Database,
    /// One kind of operation, all databases together.
    Operation,
    /// One block device.
    Device,
    /// A controller of a modelled array.
    ArrayController,
    /// A volume of a modelled array.
    ArrayVolume,
    /// A pool of a modelled array.
    ArrayPool,
    /// A disk group of a modelled array.
    ArrayGroup,
    /// A disk of a modelled array.
    ArrayDisk,
}

impl RowScope {
    /// Every scope.
    pub const ALL: [RowScope; 9] = [
        RowScope::Total,
        RowScope::Database,
        RowScope::Operation,
        RowScope::Device,
        RowScope::ArrayController,
        RowScope::ArrayVolume,
        RowScope::ArrayPool,
        RowScope::ArrayGroup,
        RowScope::ArrayDisk,
    ];

    /// Word in the `scope` column.
    pub fn name(self) -> &'static str {
        match self {
            RowScope::Total => "total",
            RowScope::Database => "database",
            RowScope::Operation => "operation",
            RowScope::Device => "device",
            RowScope::ArrayController => "array-controller",
            RowScope::ArrayVolume => "array-volume",
            RowScope::ArrayPool => "array-pool",
            RowScope::ArrayGroup => "array-group",
            RowScope::ArrayDisk => "array-disk",
        }
    }
}

/// Defines a group of columns: a struct of optional numbers, with the names of the columns.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<f64>,)*
        }

        impl $name {
            /// Names of the columns, in the order of the fields.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            pub(in crate::sample) fn values(&self) -> Vec<Option<f64>> {
                vec![$(self.$field),*]
            }

            /// Takes one value per column, in their order; missing ones are empty.
            pub(in crate::sample) fn from_values(values: &mut impl Iterator<Item = Option<f64>>) -> Self {
                $name { $($field: values.next().flatten(),)* }
            }
        }
    };
}

pub(super) use columns;

columns! {
    /// One stream of requests in one sample. In `samples.csv` each name carries the stream before
    /// it, such as `database_read_average_ms`.
    StreamRow {
        /// Requests per second that ended well.
        per_second,
        /// Mean size of a request in bytes.
        average_bytes,
        /// Mean latency.
        average_ms,
        /// Median latency.
        p50_ms,
        /// 99th percentile of the latency.
        p99_ms,
        /// Longest latency.
        max_ms,
        /// Requests that ended with an error (a count, not a rate).
        errors,
    }
}

columns! {
    /// Operations of the workload in one sample.
    OperationRow {
        /// Operations per second that ended well; in rows of several kinds commits do not count.
        operations_per_second,
        /// Mean time from begin to end.
        operation_average_ms,
        /// Median time from begin to end.
        operation_p50_ms,
        /// 99th percentile of the time from begin to end.
        operation_p99_ms,
        /// Longest time from begin to end.
        operation_max_ms,
        /// 99th percentile of the time from the intended start to the end, when a rate is held.
        operation_from_intended_start_p99_ms,
        /// Operations that ended with an error or a conflict (a count, not a rate).
        operation_failures,
    }
}

columns! {
    /// The host in one sample.
    HostRow {
        /// Share of all processors that was busy.
        cpu_busy_percent,
        /// Share of all processors that was idle with I/O outstanding.
        cpu_io_wait_percent,
        /// Processor time of the process; 100 is one processor.
        process_cpu_percent,
        /// Memory of the process.
        process_resident_bytes,
        /// Memory that new work could have.
        available_memory_bytes,
        /// Share of the time in which some task waited for I/O.
        io_pressure_percent,
    }
}

columns! {
    /// A block device in one sample.
    DeviceRow {
        /// Reads per second.
        device_reads_per_second,
        /// Writes per second.
        device_writes_per_second,
        /// Bytes read per second.
        device_read_bytes_per_second,
        /// Bytes written per second.
        device_write_bytes_per_second,
        /// Mean read latency.
        device_average_read_ms,
        /// Mean write latency.
        device_average_write_ms,
        /// Mean number of requests in flight.
        device_average_queue_depth,
        /// Fraction of the time with a request in flight.
        device_busy_fraction,
    }
}

/// The median, 99th percentile and maximum in milliseconds; empty without values.
fn spread_ms(latency: &LatencyHistogram) -> [Option<f64>; 3] {
    let some = |value| (!latency.is_empty()).then_some(value);
    let max_ms = latency.longest_ns() as f64 / 1e6;
    [
        some(latency.quantile_ms(0.5)),
        some(latency.quantile_ms(0.99)),
        some(max_ms),
    ]
}

impl StreamRow {
    pub(super) fn of(meter: &IoMeter, length_s: f64) -> StreamRow {
        let [p50_ms, p99_ms, max_ms] = spread_ms(&meter.latency);
        let count = meter.count();
        StreamRow {
            per_second: Some(count as f64 / length_s),
            average_bytes: (count > 0).then(|| meter.bytes as f64 / count as f64),
            average_ms: meter.latency.average_ms(),
            p50_ms,
            p99_ms,
            max_ms,
            errors: Some(meter.errors as f64),
        }
    }

    pub(super) fn all_of(databases: &DatabaseMeters, length_s: f64) -> [StreamRow; Stream::COUNT] {
        Stream::ALL.map(|stream| match databases.stream(stream) {
            Some(meter) => StreamRow::of(meter, length_s),
            None => StreamRow::of(&IoMeter::default(), length_s),
        })
    }
}

impl OperationRow {
    pub(super) fn of(meter: &OperationMeter, length_s: f64) -> OperationRow {
        let [p50_ms, p99_ms, max_ms] = spread_ms(&meter.service);
        OperationRow {
            operations_per_second: Some(meter.count() as f64 / length_s),
            operation_average_ms: meter.service.average_ms(),
            operation_p50_ms: p50_ms,
            operation_p99_ms: p99_ms,
            operation_max_ms: max_ms,
            operation_from_intended_start_p99_ms: spread_ms(&meter.from_intended_start)[1],
            operation_failures: Some(meter.failures as f64),
        }
    }

    /// All kinds together that count in the total.
    pub(super) fn total_of(meters: &DatabaseMeters, layout: &Layout, length_s: f64) -> Self {
        let mut all = OperationMeter::default();
        for (index, kind) in layout.operations.iter().enumerate() {
            if let Some(meter) = meters.operation(index).filter(|_| kind.in_total) {
                all.merge(meter);
            }
        }
        OperationRow::of(&all, length_s)
    }
}

impl HostRow {
    pub(super) fn of(host: &HostSample) -> HostRow {
        HostRow {
            cpu_busy_percent: host.cpu_busy_percent,
            cpu_io_wait_percent: host.cpu_io_wait_percent,
            process_cpu_percent: host.process_cpu_percent,
            process_resident_bytes: host.process_resident_bytes,
            available_memory_bytes: host.available_memory_bytes,
            io_pressure_percent: host.io_pressure_percent,
        }
    }
}

impl DeviceRow {
    pub(super) fn of(device: &DeviceSample) -> DeviceRow {
        DeviceRow {
            device_reads_per_second: Some(device.reads_per_second),
            device_writes_per_second: Some(device.writes_per_second),
            device_read_bytes_per_second: Some(device.read_bytes_per_second),
            device_write_bytes_per_second: Some(device.write_bytes_per_second),
            device_average_read_ms: device.average_read_ms,
            device_average_write_ms: device.average_write_ms,
            device_average_queue_depth: Some(device.average_queue_depth),
            device_busy_fraction: Some(device.busy_fraction),
        }
    }
}
