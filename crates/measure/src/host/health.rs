//! What devices say of their own health: error counters of the kernel, and SMART or NVMe figures where
//! `smartctl` is installed and may read them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::result::HealthFigure;

/// `smartctl` may wait for a device that does not answer.
const LONGEST: Duration = Duration::from_secs(10);
/// How often it is asked whether the program has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Counters that the kernel keeps of SCSI and ATA devices, in `/sys/block/NAME/device`.
const KERNEL_COUNTERS: [(&str, &str); 2] = [
    ("ioerr_cnt", "requests with errors (kernel)"),
    ("iotmo_cnt", "requests with timeouts (kernel)"),
];

/// Fields of the SMART / Health Information log page of NVMe devices.
const NVME_FIELDS: [(&str, &str); 8] = [
    ("critical_warning", "critical warning"),
    ("temperature", "temperature, C"),
    ("available_spare", "available spare, %"),
    ("percentage_used", "percentage used"),
    ("media_errors", "media and data integrity errors"),
    ("num_err_log_entries", "error information log entries"),
    ("unsafe_shutdowns", "unsafe shutdowns"),
    ("warning_temp_time", "warning temperature time, min"),
];

/// Attributes of ATA devices that speak of errors.
const ATA_ATTRIBUTES: [u64; 9] = [1, 5, 10, 184, 187, 188, 197, 198, 199];

/// The figures of one device by name.
pub type DeviceHealth = BTreeMap<String, f64>;

/// The health of devices with these kernel names, as far as it can be read.
pub fn device_health<'a>(
    devices: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<String, DeviceHealth> {
    let of = |device: &str| {
        let mut figures = kernel_counters(Path::new("/sys"), device);
        if let Some(text) = smartctl("smartctl", device) {
            figures.extend(smart_figures(&text));
        }
        (device.to_owned(), figures)
    };
    devices.into_iter().map(of).collect()
}

/// The figures of before and after side by side.
pub fn compare_health(
    before: &BTreeMap<String, DeviceHealth>,
    after: &BTreeMap<String, DeviceHealth>,
) -> Vec<HealthFigure> {
    let empty = DeviceHealth::new();
    let mut figures = Vec::new();
    for (device, first) in before {
        let last = after.get(device).unwrap_or(&empty);
        for name in first
            .keys()
            .chain(last.keys().filter(|name| !first.contains_key(*name)))
        {
            figures.push(HealthFigure {
                device: device.clone(),
                name: name.clone(),
                before: first.get(name).copied(),
                after: last.get(name).copied(),
            });
        }
    }
    figures
}

fn kernel_counters(sys: &Path, device: &str) -> DeviceHealth {
    let directory = sys.join("block").join(device).join("device");
    let read = |(file, name): &(&str, &str)| {
        let text = fs::read_to_string(directory.join(file)).ok()?;
        Some(((*name).to_owned(), counter(text.trim())?))
    };
    KERNEL_COUNTERS.iter().filter_map(read).collect()
}

/// A number as the kernel writes it: `0x1f`, or decimal.
fn counter(text: &str) -> Option<f64> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    Some(number as f64)
}

/// What `smartctl` prints of a device; `None` when it is not installed or does not answer.
fn smartctl(program: &str, device: &str) -> Option<String> {
    let path = format!("/dev/{device}");
    let mut child = Command::new(program)
        .args(["--json", "--all", "--nocheck=standby", &path])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        // Its status is a set of bits about the device; what counts is what it prints.
        if child.try_wait().ok()?.is_some() {
            return reader.join().ok()?.ok();
        }
        thread::sleep(POLL_INTERVAL);
    }
    // It waits for the device, perhaps even when it is killed: nobody waits for it.
    let _ = child.kill();
    None
}

/// The figures in the output of `smartctl --json --all`.
fn smart_figures(text: &str) -> DeviceHealth {
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return DeviceHealth::new();
    };
    let mut figures = DeviceHealth::new();
    if let Some(passed) = document["smart_status"]["passed"].as_bool() {
        let passed = f64::from(u8::from(passed));
        figures.insert(
            "self-assessment passed (1) or failed (0)".to_owned(),
            passed,
        );
    }
    if let Some(hours) = document["power_on_time"]["hours"].as_f64() {
        figures.insert("power-on hours".to_owned(), hours);
    }
    let nvme = &document["nvme_smart_health_information_log"];
    for (field, name) in NVME_FIELDS {
        if let Some(value) = nvme[field].as_f64() {
            figures.insert(name.to_owned(), value);
        }
    }
    if nvme.is_null()
        && let Some(value) = document["temperature"]["current"].as_f64()
    {
        figures.insert("temperature, C".to_owned(), value);
    }
    if let Some(grown) = document["scsi_grown_defect_list"].as_f64() {
        figures.insert("grown defects".to_owned(), grown);
    }
    let table = document["ata_smart_attributes"]["table"].as_array();
    for attribute in table.into_iter().flatten() {
        let (id, name) = (attribute["id"].as_u64(), attribute["name"].as_str());
        let value = attribute["raw"]["value"].as_f64();
        if let (Some(id), Some(name), Some(value)) = (id, name, value)
            && ATA_ATTRIBUTES.contains(&id)
        {
            figures.insert(format!("{name} ({id}, raw)"), value);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    const NVME: &str = r#"{"smartctl":{"exit_status":0},"smart_status":{"passed":true},
        "nvme_smart_health_information_log":{"critical_warning":0,"temperature":41,
        "available_spare":100,"percentage_used":3,"media_errors":2,"num_err_log_entries":17,
        "unsafe_shutdowns":5,"warning_temp_time":6},"temperature":{"current":99},
        "power_on_time":{"hours":1234}}"#;
    const ATA: &str = r#"{"smart_status":{"passed":false},"temperature":{"current":33},
        "ata_smart_attributes":{"table":[
        {"id":5,"name":"Reallocated_Sector_Ct","raw":{"value":8,"string":"8"}},
        {"id":9,"name":"Power_On_Hours","raw":{"value":99}},
        {"id":10,"name":"Spin_Retry_Count"},
        {"id":197,"name":"Current_Pending_Sector","raw":{"value":1}}]}}"#;
    const SCSI: &str = r#"{"temperature":{"current":30},"scsi_grown_defect_list":4}"#;

    #[test]
    fn recorded_output_becomes_figures() {
        let figures = |text| smart_figures(text).into_iter().collect::<Vec<_>>();
        let named = |figures: &[(&str, f64)]| {
            let figures = figures.iter();
            let figures = figures.map(|(name, value)| ((*name).to_owned(), *value));
            figures.collect::<Vec<_>>()
        };
        // The temperature is that of the NVMe log where there is one.
        assert_eq!(
            figures(NVME),
            named(&[
                ("available spare, %", 100.0),
                ("critical warning", 0.0),
                ("error information log entries", 17.0),
                ("media and data integrity errors", 2.0),
                ("percentage used", 3.0),
                ("power-on hours", 1234.0),
                ("self-assessment passed (1) or failed (0)", 1.0),
                ("temperature, C", 41.0),
                ("unsafe shutdowns", 5.0),
                ("warning temperature time, min", 6.0),
            ])
        );
        assert_eq!(
            figures(ATA),
            named(&[
                ("Current_Pending_Sector (197, raw)", 1.0),
                ("Reallocated_Sector_Ct (5, raw)", 8.0),
                ("self-assessment passed (1) or failed (0)", 0.0),
                ("temperature, C", 33.0),
            ])
        );
        assert_eq!(
            figures(SCSI),
            named(&[("grown defects", 4.0), ("temperature, C", 30.0)])
        );
        assert_eq!(figures("smartctl: command failed"), []);
    }

    #[test]
    fn counters_of_the_kernel_are_hexadecimal_or_decimal() {
        let sys = tempfile::tempdir().unwrap();
        let device = sys.path().join("block/sdb/device");
        fs::create_dir_all(&device).unwrap();
        fs::write(device.join("ioerr_cnt"), "0x1f\n").unwrap();
        fs::write(device.join("iotmo_cnt"), "17\n").unwrap();
        let figures = kernel_counters(sys.path(), "sdb");
        assert_eq!(figures.len(), 2);
        assert_eq!(figures["requests with errors (kernel)"], 31.0);
        assert_eq!(figures["requests with timeouts (kernel)"], 17.0);
        fs::write(device.join("iotmo_cnt"), "unknown\n").unwrap();
        assert_eq!(kernel_counters(sys.path(), "sdb").len(), 1);
        assert!(kernel_counters(sys.path(), "sdc").is_empty());
    }

    #[test]
    fn smartctl_is_asked_about_the_device_if_it_is_installed() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("smartctl");
        let program = program.to_str().unwrap();
        assert_eq!(smartctl(program, "sdb"), None);
        // Its status is about the device and not whether it has answered.
        fs::write(program, "#!/bin/sh\necho \"$@\"\nexit 4\n").unwrap();
        fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            smartctl(program, "sdb").as_deref(),
            Some("--json --all --nocheck=standby /dev/sdb\n")
        );
    }

    #[test]
    fn a_device_that_says_nothing_has_no_figures() {
        let health = device_health(["no such device"]);
        let none = BTreeMap::from([("no such device".to_owned(), DeviceHealth::new())]);
        assert_eq!(health, none);
    }

    #[test]
    fn before_and_after_stand_side_by_side() {
        let of = |errors| BTreeMap::from([("sda".to_owned(), smart_figures(errors))]);
        let after = NVME.replace("\"media_errors\":2", "\"media_errors\":9");
        let figures = compare_health(&of(NVME), &of(&after));
        let changed: Vec<_> = figures
            .iter()
            .filter(|one| one.before != one.after)
            .collect();
        assert_eq!(changed.len(), 1);
        assert_eq!(
            (changed[0].before, changed[0].after),
            (Some(2.0), Some(9.0))
        );
        // A device that is gone afterwards has no figures any more.
        let gone = compare_health(&of(NVME), &BTreeMap::new());
        assert!(gone.iter().all(|one| one.after.is_none()) && !gone.is_empty());
    }
}
