//! What devices say of their own health: error counters of the kernel, and SMART or NVMe figures where
//! `smartctl` is installed and may read them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::result::HealthFigure;

/// `smartctl` may wait for a device that does not answer.
const LONGEST: Duration = Duration::from_secs(10);
/// What a figure says of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Its state, such as a temperature, or a count that grows without an error: `ioerr_cnt` and the error
    /// information log also count commands that a device does not know.
    State,
    /// A count of errors.
    Errors,
    /// A warning, unless it is 0.
    Warning,
    /// A self-assessment: 0 says that the device fails.
    Assessment,
}

/// Counters that the kernel keeps of SCSI and ATA devices, in `/sys/block/NAME/device`.
const KERNEL_COUNTERS: [(&str, &str, Meaning); 2] = [
    ("ioerr_cnt", "requests with errors (kernel)", Meaning::State),
    (
        "iotmo_cnt",
        "requests with timeouts (kernel)",
        Meaning::Errors,
    ),
];

/// Fields of the SMART / Health Information log page of NVMe devices.
const NVME_FIELDS: [(&str, &str, Meaning); 8] = [
    ("critical_warning", "critical warning", Meaning::Warning),
    ("temperature", "temperature, C", Meaning::State),
    ("available_spare", "available spare, %", Meaning::State),
    ("percentage_used", "percentage used", Meaning::State),
    (
        "media_errors",
        "media and data integrity errors",
        Meaning::Errors,
    ),
    (
        "num_err_log_entries",
        "error information log entries",
        Meaning::State,
    ),
    ("unsafe_shutdowns", "unsafe shutdowns", Meaning::State),
    (
        "warning_temp_time",
        "warning temperature time, min",
        Meaning::State,
    ),
];

/// Attributes of ATA devices that speak of errors. The first is a rate that manufacturers encode each in
/// their own way.
const ATA_ATTRIBUTES: [(u64, Meaning); 9] = [
    (1, Meaning::State),
    (5, Meaning::Errors),
    (10, Meaning::Errors),
    (184, Meaning::Errors),
    (187, Meaning::Errors),
    (188, Meaning::Errors),
    (197, Meaning::Errors),
    (198, Meaning::Errors),
    (199, Meaning::Errors),
];

/// A figure of a device at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceFigure {
    value: f64,
    meaning: Meaning,
}

impl DeviceFigure {
    /// Whether the device has, since `before`, counted errors, or gives a warning now.
    fn is_bad(self, before: Option<&Self>) -> bool {
        match self.meaning {
            Meaning::State => false,
            Meaning::Errors => before.is_some_and(|before| self.value > before.value),
            Meaning::Warning => self.value != 0.0,
            Meaning::Assessment => self.value == 0.0,
        }
    }
}

/// The figures of one device by name.
pub type DeviceHealth = BTreeMap<String, DeviceFigure>;

/// The health of devices with these kernel names, as far as it can be read.
pub fn device_health<'a>(
    devices: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<String, DeviceHealth> {
    let of = |device: &str| {
        let mut figures = kernel_counters(Path::new("/sys"), device);
        if let Some(text) = smartctl("smartctl", device, LONGEST) {
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
            let (before, after) = (first.get(name), last.get(name));
            figures.push(HealthFigure {
                device: device.clone(),
                name: name.clone(),
                before: before.map(|figure| figure.value),
                after: after.map(|figure| figure.value),
                is_bad: after.is_some_and(|after| after.is_bad(before)),
            });
        }
    }
    figures
}

fn kernel_counters(sys: &Path, device: &str) -> DeviceHealth {
    let directory = sys.join("block").join(device).join("device");
    let read = |(file, name, meaning): &(&str, &str, Meaning)| {
        let text = fs::read_to_string(directory.join(file)).ok()?;
        let figure = DeviceFigure {
            value: counter(text.trim())?,
            meaning: *meaning,
        };
        Some(((*name).to_owned(), figure))
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

/// What `smartctl` prints of a device; `None` when it is not installed or takes longer than `longest`.
fn smartctl(program: &str, device: &str, longest: Duration) -> Option<String> {
    let path = format!("/dev/{device}");
    let mut child = Command::new(program)
        .args(["--json", "--all", "--nocheck=standby", &path])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        // Nobody may wait for it any more.
        let _ = sender.send(read.map(|_| text));
    });
    let text = receiver.recv_timeout(longest);
    // It has ended, or waits for the device, perhaps even when it is killed: its status is a set of bits
    // about the device, and only this thread waits for it.
    thread::spawn(move || {
        let _ = child.kill();
        child.wait()
    });
    text.ok()?.ok()
}

/// The figures in the output of `smartctl --json --all`.
fn smart_figures(text: &str) -> DeviceHealth {
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return DeviceHealth::new();
    };
    let mut figures = DeviceHealth::new();
    let mut insert = |name: &str, value: Option<f64>, meaning| {
        if let Some(value) = value {
            figures.insert(name.to_owned(), DeviceFigure { value, meaning });
        }
    };
    let passed = document["smart_status"]["passed"].as_bool();
    insert(
        "self-assessment passed (1) or failed (0)",
        passed.map(|passed| f64::from(u8::from(passed))),
        Meaning::Assessment,
    );
    let hours = &document["power_on_time"]["hours"];
    insert("power-on hours", hours.as_f64(), Meaning::State);
    let nvme = &document["nvme_smart_health_information_log"];
    for (field, name, meaning) in NVME_FIELDS {
        insert(name, nvme[field].as_f64(), meaning);
    }
    if nvme.is_null() {
        let current = &document["temperature"]["current"];
        insert("temperature, C", current.as_f64(), Meaning::State);
    }
    let grown = &document["scsi_grown_defect_list"];
    insert("grown defects", grown.as_f64(), Meaning::Errors);
    let table = document["ata_smart_attributes"]["table"].as_array();
    for attribute in table.into_iter().flatten() {
        let (id, name) = (attribute["id"].as_u64(), attribute["name"].as_str());
        let value = attribute["raw"]["value"].as_f64();
        let known = ATA_ATTRIBUTES.iter().find(|(known, _)| Some(*known) == id);
        if let (Some((id, meaning)), Some(name)) = (known, name) {
            insert(&format!("{name} ({id}, raw)"), value, *meaning);
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
        let figures = |text| {
            let figures = smart_figures(text).into_iter();
            figures
                .map(|(name, figure)| (name, figure.value))
                .collect::<Vec<_>>()
        };
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
        assert_eq!(figures["requests with errors (kernel)"].value, 31.0);
        assert_eq!(figures["requests with timeouts (kernel)"].value, 17.0);
        fs::write(device.join("iotmo_cnt"), "unknown\n").unwrap();
        assert_eq!(kernel_counters(sys.path(), "sdb").len(), 1);
        assert!(kernel_counters(sys.path(), "sdc").is_empty());
    }

    #[test]
    fn smartctl_is_asked_about_the_device_if_it_is_installed() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("smartctl");
        let program = program.to_str().unwrap();
        assert_eq!(smartctl(program, "sdb", LONGEST), None);
        // Its status is about the device and not whether it has answered.
        fs::write(program, "#!/bin/sh\necho \"$@\"\nexit 4\n").unwrap();
        fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            smartctl(program, "sdb", LONGEST).as_deref(),
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
        assert!(changed[0].is_bad);
        assert_eq!(figures.iter().filter(|one| one.is_bad).count(), 1);
        // A device that is gone afterwards has no figures any more.
        let gone = compare_health(&of(NVME), &BTreeMap::new());
        assert!(gone.iter().all(|one| one.after.is_none()) && !gone.is_empty());
    }

    #[test]
    fn warnings_are_bad_and_a_state_is_not() {
        let of = |text| BTreeMap::from([("sda".to_owned(), smart_figures(text))]);
        let bad = |before, after| -> Vec<String> {
            let figures = compare_health(&of(before), &of(after)).into_iter();
            figures
                .filter_map(|one| one.is_bad.then_some(one.name))
                .collect()
        };
        assert_eq!(bad(NVME, NVME), [""; 0]);
        let warm = NVME.replace("\"temperature\":41", "\"temperature\":70");
        assert_eq!(bad(NVME, &warm), [""; 0]);
        let warned = NVME.replace("\"critical_warning\":0", "\"critical_warning\":4");
        assert_eq!(bad(NVME, &warned), ["critical warning"]);
        // One that failed before the run, too.
        let failed = ["self-assessment passed (1) or failed (0)"];
        assert_eq!(bad(ATA, ATA), failed);
        let pending = ATA.replace("\"value\":1}", "\"value\":3}");
        assert_eq!(
            bad(ATA, &pending),
            ["Current_Pending_Sector (197, raw)", failed[0]]
        );
        assert_eq!(bad(&pending, ATA), failed);
    }

    /// What it has started may keep its output open for longer.
    #[test]
    fn a_smartctl_that_does_not_end_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("smartctl");
        fs::write(&program, "#!/bin/sh\nsleep 60 &\necho {}\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let program = program.to_str().unwrap();
        assert_eq!(smartctl(program, "sdb", Duration::from_secs(1)), None);
    }
}
