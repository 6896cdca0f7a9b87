//! What fio writes is read as it is meant.

use calibrate::{Access, fio};

/// As fio 3 writes it, without what is not read.
const RESULT: &str = r#"{
  "fio version" : "fio-3.33",
  "global options" : { "ioengine" : "libaio", "direct" : "1", "size" : "2g", "runtime" : "30s" },
  "jobs" : [
    {
      "jobname" : "small",
      "job options" : { "rw" : "randread", "bs" : "4k", "iodepth" : "16", "numjobs" : "2" },
      "read" : {
        "bw_bytes" : 40960000, "bw" : 40000, "iops" : 10000.0, "total_ios" : 300000,
        "lat_ns" : { "mean" : 3200000.0 },
        "clat_ns" : { "mean" : 3190000.0, "percentile" : { "50.000000" : 3000000, "99.000000" : 9000000 } }
      },
      "write" : { "bw_bytes" : 0, "iops" : 0.0, "total_ios" : 0, "lat_ns" : { "mean" : 0.0 } }
    },
    {
      "jobname" : "backup",
      "job options" : { "rw" : "write", "bs" : "1m", "rate" : "20m" },
      "read" : { "bw_bytes" : 0, "iops" : 0.0, "total_ios" : 0, "lat_ns" : { "mean" : 0.0 } },
      "write" : { "bw_bytes" : 20971520, "iops" : 20.0, "total_ios" : 600, "lat_ns" : { "mean" : 2000000.0 } }
    }
  ]
}"#;

#[test]
fn a_result_of_fio_is_a_probe() {
    let read = fio::read("file", RESULT).expect("a result");
    let [measured] = read.as_slice() else {
        panic!("{read:?}")
    };
    let probe = &measured.probe;
    assert_eq!(probe.name, "small");
    assert_eq!(
        (probe.span_bytes, probe.duration_ns),
        (2 << 30, 30_000_000_000)
    );
    let [small, backup] = probe.jobs.as_slice() else {
        panic!("{probe:?}")
    };
    assert_eq!((small.access, small.outstanding), (Access::RandomRead, 32));
    assert_eq!(small.sizes, 4_096..=4_096);
    assert_eq!(small.limit_bytes_per_s, None);
    assert_eq!(
        (backup.access, backup.outstanding),
        (Access::SequentialWrite, 1)
    );
    assert_eq!(backup.limit_bytes_per_s, Some(20_971_520.0));
    let figures = measured.figures[0];
    assert_eq!(
        (figures.iops, figures.bytes_per_s),
        (10_000.0, 40_960_000.0)
    );
    assert_eq!((figures.mean_us, figures.requests), (3_200.0, 300_000));
    assert_eq!(
        figures.quantiles_us,
        [Some(3_000.0), None, Some(9_000.0), None]
    );
    assert_eq!(measured.figures[1].iops, 20.0);
}

#[test]
fn a_limit_that_the_options_do_not_show_follows_from_littles_law() {
    let without = RESULT.replace(", \"rate\" : \"20m\"", "");
    let read = fio::read("file", &without).expect("a result");
    // 20 a second of 2 ms are 0.04 outstanding, of 1.
    assert_eq!(read[0].probe.jobs[1].limit_bytes_per_s, Some(20_971_520.0));
    // 10,000 a second of 3.2 ms are 32 of 32.
    assert_eq!(read[0].probe.jobs[0].limit_bytes_per_s, None);
}

#[test]
fn what_no_probe_can_be_is_refused() {
    for (wrong, says) in [
        (RESULT.replace("randread", "randrw"), "rw=randrw"),
        (RESULT.replace("\"4k\"", "\"4q\""), "bs="),
        (RESULT.replace("\"16\"", "\"0\""), "iodepth=0"),
        (RESULT.replace("\"16\"", "\"40000\""), "numjobs=2"),
        (RESULT.replace("\"4k\"", "\"1000\""), "bs=1000"),
        (RESULT.replace("\"4k\"", "\"3g\""), "bs=3g"),
        (
            RESULT.replace("\"iops\" : 20.0", "\"iops\" : 0.0"),
            "without a request",
        ),
        ("{\"jobs\": []}".to_owned(), "without a request"),
        (RESULT.replace("\"30s\"", "\"soon\""), "runtime=soon"),
        ("[1, 2]".to_owned(), "no result of"),
        (RESULT[..400].to_owned(), "no result of"),
    ] {
        let error = fio::read("file", &wrong).expect_err("it is refused");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn outstanding_requests_are_those_of_the_engine_and_of_an_entry() {
    let outstanding = |text: &str| {
        let read = fio::read("file", text).expect("a result");
        read[0].probe.jobs[0].outstanding
    };
    assert_eq!(outstanding(RESULT), 32, "one entry for both jobs");
    let synchronous = RESULT.replace("libaio", "psync");
    assert_eq!(outstanding(&synchronous), 2);
    assert_eq!(
        outstanding(&RESULT.replace("\"ioengine\" : \"libaio\", ", "")),
        2
    );
    // An entry of each of the two.
    let each = RESULT.replace("\"backup\"", "\"small\"");
    assert_eq!(outstanding(&each), 16);
}
