//! From a sample to the rows of `samples.csv`.

use super::array_rows::array_rows;
use super::{DatabaseMeters, IoMeter, Layout, OperationMeter, Sample, SampleRow};
use crate::metric::{IoMetric, Metric, RowScope, Stream, Values};

/// The rows of one sample: total, databases, operations, devices, parts of the array.
pub fn rows_of(sample: &Sample) -> Vec<SampleRow> {
    let (layout, length_s) = (&sample.layout, sample.length_s);
    let row = |scope, name: &str, values| SampleRow {
        sample: sample.number,
        phase: sample.phase,
        begins_s: sample.begins_s,
        length_s,
        scope,
        name: name.to_owned(),
        values,
    };
    let total = total_meters(sample);
    let mut of_total = database_values(&total, layout, length_s);
    let of_host = sample.host.iter().flat_map(|host| host.values.iter());
    of_total.extend(of_host.map(|(metric, value)| (metric, Some(value))));
    let mut rows = vec![row(RowScope::Total, "all", of_total)];
    for (name, meters) in layout.databases.iter().zip(&sample.databases) {
        let values = database_values(meters, layout, length_s);
        rows.push(row(RowScope::Database, name, values));
    }
    let nothing = OperationMeter::default();
    for (index, kind) in layout.operations.iter().enumerate() {
        let meter = total.operation(index).unwrap_or(&nothing);
        let values = operation_values(meter, length_s).into_iter().collect();
        rows.push(row(RowScope::Operation, &kind.name, values));
    }
    for device in sample.host.iter().flat_map(|host| &host.devices) {
        let values = device.values.clone();
        rows.push(row(RowScope::Device, &device.name, values));
    }
    for (scope, name, values) in sample.array.iter().flat_map(array_rows) {
        rows.push(row(scope, &name, values));
    }
    rows
}

/// All databases of a sample together; their sizes and queues are added up.
fn total_meters(sample: &Sample) -> DatabaseMeters {
    let mut databases = sample.databases.iter();
    let mut total = databases.next().cloned().unwrap_or_default();
    for meters in databases {
        let size = total.size_bytes.zip(meters.size_bytes).map(|(a, b)| a + b);
        // Not every database may have a copy.
        let queues = [total.copy_queues, meters.copy_queues]
            .into_iter()
            .flatten();
        let queues = queues.reduce(std::ops::Add::add);
        total.merge(meters);
        total.size_bytes = size;
        total.copy_queues = queues;
    }
    total
}

fn database_values(meters: &DatabaseMeters, layout: &Layout, length_s: f64) -> Values {
    let per_second = |count: u64| Some(count as f64 / length_s);
    let mut values: Values = [
        (Metric::Iops, per_second(meters.transactional_count())),
        (
            Metric::PageFaultStalls,
            per_second(meters.page_fault_stalls),
        ),
        (Metric::Size, meters.size_bytes.map(|bytes| bytes as f64)),
        (
            Metric::CopyQueue,
            meters.copy_queues.map(|queues| queues.copy as f64),
        ),
        (
            Metric::ReplayQueue,
            meters.copy_queues.map(|queues| queues.replay as f64),
        ),
    ]
    .into_iter()
    .collect();
    let nothing = IoMeter::default();
    for stream in Stream::ALL {
        let meter = meters.stream(stream).unwrap_or(&nothing);
        values.extend(
            io_values(meter, length_s).map(|(metric, value)| (Metric::Io(stream, metric), value)),
        );
    }
    values.extend(operation_values(&all_operations(meters, layout), length_s));
    values
}

fn io_values(meter: &IoMeter, length_s: f64) -> [(IoMetric, Option<f64>); 7] {
    let (count, latency) = (meter.count(), &meter.latency);
    let average_bytes = (count > 0).then(|| meter.bytes as f64 / count as f64);
    IoMetric::SAMPLED.map(|metric| {
        let value = match metric {
            IoMetric::Rate => Some(count as f64 / length_s),
            IoMetric::AverageBytes => average_bytes,
            IoMetric::Errors => Some(meter.errors as f64),
            of_latency => latency.figure(of_latency),
        };
        (metric, value)
    })
}

fn operation_values(meter: &OperationMeter, length_s: f64) -> [(Metric, Option<f64>); 7] {
    let service = &meter.service;
    [
        (Metric::OperationRate, Some(meter.count() as f64 / length_s)),
        (Metric::OperationAverage, service.figure(IoMetric::Average)),
        (Metric::OperationP50, service.figure(IoMetric::P50)),
        (Metric::OperationP99, service.figure(IoMetric::P99)),
        (Metric::OperationMax, service.figure(IoMetric::Max)),
        (
            Metric::ResponseP99,
            meter.response_time.figure(IoMetric::P99),
        ),
        (Metric::OperationFailures, Some(meter.failures as f64)),
    ]
}

/// All kinds of operations together that count in the total.
fn all_operations(meters: &DatabaseMeters, layout: &Layout) -> OperationMeter {
    let mut all = OperationMeter::default();
    for (index, kind) in layout.operations.iter().enumerate() {
        if let Some(meter) = meters.operation(index).filter(|_| kind.in_total) {
            all.merge(meter);
        }
    }
    all
}
