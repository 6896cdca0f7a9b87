//! A cloud volume keeps its contract: base rates, bursts for as long as credits last, counted sizes.

use proptest::prelude::*;

use super::budget::Burst;
use super::*;

fn volume() -> CloudVolumeDescription {
    CloudVolumeDescription {
        capacity_bytes: 100 << 30,
        iops: 300.0,
        burst_iops: Some(3_000.0),
        burst_credits: 30_000.0,
        counted_kib: 256,
        mb_per_s: 100.0,
        burst_mb_per_s: None,
        burst_credit_mb: 0.0,
        credits_at_start_percent: 100.0,
        read_latency_us: 600.0,
        write_latency_us: 900.0,
        latency_variation: 0.3,
        network_mb_per_s: 1_000.0,
        on_board_queue_depth: 1024,
    }
}

fn read(tag: u32, kib: u32) -> DiskRequest {
    DiskRequest {
        tag,
        direction: Direction::Read,
        first_sector: u64::from(tag) * 2_048,
        sectors: kib * 2,
    }
}

/// Keeps so many reads inside until `until_s`; requests that ended in each second.
fn ended_per_second(
    disk: &mut CloudVolume,
    outstanding: u32,
    kib: u32,
    until_s: usize,
) -> Vec<u64> {
    let mut ended = vec![0; until_s];
    for tag in 0..outstanding {
        disk.submit(0, read(tag, kib));
    }
    while let Some(now_ns) = disk.next_completion_ns() {
        let end = disk.complete(now_ns);
        let Some(second) = ended.get_mut((now_ns / 1_000_000_000) as usize) else {
            break;
        };
        *second += 1;
        disk.submit(now_ns, read(end.tag, kib));
    }
    disk.counters().check_invariants().expect("counters agree");
    ended
}

#[test]
fn a_burst_lasts_as_long_as_its_credits() {
    let mut disk = CloudVolume::new(&volume(), 1);
    let ended = ended_per_second(&mut disk, 64, 4, 20);
    // 30,000 credits are spent at 3,000 and earned at 300 a second: 11.1 s.
    for (second, &count) in ended.iter().enumerate() {
        let expected = match second {
            0..=10 => 3_000,
            11 => continue,
            _ => 300,
        };
        assert!(count.abs_diff(expected) <= 64, "second {second}: {ended:?}");
    }
}

#[test]
fn without_its_credits_a_volume_has_its_base_rate() {
    let mut disk = CloudVolume::new(&volume(), 1);
    assert!(ended_per_second(&mut disk, 64, 4, 2)[1].abs_diff(3_000) <= 64);
    while let Some(now_ns) = disk.next_completion_ns() {
        disk.complete(now_ns);
    }
    disk.spend_credits(10_000_000_000);
    let mut last_ns = 0;
    for tag in 0..64 {
        disk.submit(10_000_000_000, read(tag, 4));
    }
    while let Some(now_ns) = disk.next_completion_ns() {
        disk.complete(now_ns);
        last_ns = now_ns;
    }
    // 64 requests at 300 a second.
    let took_s = (last_ns - 10_000_000_000) as f64 / 1e9;
    assert!((0.19..0.24).contains(&took_s), "{took_s}");
}

#[test]
fn credits_come_back_while_little_is_asked_for() {
    let mut disk = CloudVolume::new(
        &CloudVolumeDescription {
            credits_at_start_percent: 0.0,
            ..volume()
        },
        1,
    );
    assert!(ended_per_second(&mut disk, 64, 4, 3)[2].abs_diff(300) <= 64);
    while let Some(now_ns) = disk.next_completion_ns() {
        disk.complete(now_ns);
    }
    // Ten seconds of rest earn 3,000 credits: a second of burst and a bit.
    let rest_until_ns = 13_500_000_000;
    let mut ended = 0;
    for tag in 0..64 {
        disk.submit(rest_until_ns, read(tag, 4));
    }
    while let Some(now_ns) = disk.next_completion_ns() {
        let end = disk.complete(now_ns);
        if now_ns > rest_until_ns + 1_000_000_000 {
            break;
        }
        ended += 1;
        disk.submit(now_ns, read(end.tag, 4));
    }
    assert!(ended > 2_800, "{ended}");
}

#[test]
fn large_requests_count_as_several_and_data_has_its_own_limit() {
    let without_bursts = CloudVolumeDescription {
        burst_iops: None,
        burst_credits: 0.0,
        ..volume()
    };
    let rate = |description: &CloudVolumeDescription, kib| {
        let mut disk = CloudVolume::new(description, 1);
        ended_per_second(&mut disk, 64, kib, 6)[5]
    };
    assert!(rate(&without_bursts, 256).abs_diff(300) <= 2, "one each");
    let more_data = CloudVolumeDescription {
        mb_per_s: 1_000.0,
        ..without_bursts.clone()
    };
    assert!(rate(&more_data, 512).abs_diff(150) <= 2, "two each");
    // 100 MB/s of 512 KiB are 190 requests a second; the requests allow 150.
    let less_data = CloudVolumeDescription {
        mb_per_s: 50.0,
        ..without_bursts
    };
    assert!(rate(&less_data, 512).abs_diff(95) <= 2, "50 MB/s");
}

#[test]
fn an_idle_volume_takes_what_the_description_says() {
    let mut disk = CloudVolume::new(&volume(), 1);
    let mut sum_ns = 0;
    for number in 0..2_000_u64 {
        let now_ns = number * 10_000_000;
        disk.submit(now_ns, read(number as u32, 4));
        let end_ns = disk.next_completion_ns().expect("a request");
        disk.complete(end_ns);
        sum_ns += end_ns - now_ns;
    }
    // 600 us, and 4 us for the data.
    let mean_us = sum_ns as f64 / 2_000.0 / 1e3;
    assert!((mean_us - 604.0).abs() < 15.0, "{mean_us}");
}

#[test]
fn bursts_without_a_rate_or_without_credits_are_refused() {
    for wrong in [
        CloudVolumeDescription {
            burst_credits: 0.0,
            ..volume()
        },
        CloudVolumeDescription {
            burst_iops: Some(200.0),
            ..volume()
        },
        CloudVolumeDescription {
            burst_credit_mb: 1.0,
            ..volume()
        },
    ] {
        assert_eq!(wrong.check("").len(), 1, "{wrong:?}");
    }
    assert!(volume().check("").is_empty());
}

proptest! {
    /// Over any time no more passes than the credits there were and what was earned since.
    #[test]
    fn no_more_passes_than_is_allowed(gaps_us in proptest::collection::vec(0_u64..20_000, 1..400)) {
        let burst = Burst { per_s: 2_000.0, credits: 50.0, share_at_start: 1.0 };
        let mut budget = Budget::new(100.0, Some(burst));
        let (mut now_ns, mut last_ns) = (0_u64, 0.0);
        for (number, gap_us) in gaps_us.into_iter().enumerate() {
            now_ns += gap_us * 1_000;
            let allowed_ns = budget.take(now_ns as f64, 1.0);
            prop_assert!(allowed_ns >= now_ns as f64 && allowed_ns >= last_ns);
            let most = 50.0 + allowed_ns * 100.0 / 1e9;
            prop_assert!((number + 1) as f64 <= most + 1e-6);
            last_ns = allowed_ns;
        }
    }
}
