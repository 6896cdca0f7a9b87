//! What the kernel and the devices say of a run on real storage.

use std::collections::BTreeMap;

use measure::host::{DeviceHealth, KernelLog, compare_health, device_health};
use measure::result::RunResult;

/// Follows the devices of a run from its begin to its end.
pub struct DeviceWatch {
    devices: Vec<String>,
    kernel_log: Option<KernelLog>,
    before: BTreeMap<String, DeviceHealth>,
}

impl DeviceWatch {
    /// Begins to follow the devices under the targets of a run.
    pub fn begin(base: &RunResult) -> Self {
        let mut devices: Vec<String> = Vec::new();
        for device in &base.host.devices {
            let names = std::iter::once(&device.name).chain(&device.underlying_devices);
            for name in names {
                if !devices.contains(name) {
                    devices.push(name.clone());
                }
            }
        }
        Self {
            kernel_log: KernelLog::follow(devices.clone()),
            before: device_health(devices.iter().map(String::as_str)),
            devices,
        }
    }

    /// Enters into the result what was said in the meantime.
    pub fn finish(self, result: &mut RunResult) {
        if let Some(log) = self.kernel_log {
            let said = log.finish();
            result.host.kernel_messages.extend(said.messages);
            result.host.more_kernel_messages += said.more;
        }
        let after = device_health(self.devices.iter().map(String::as_str));
        result.host.health = compare_health(&self.before, &after);
    }
}
