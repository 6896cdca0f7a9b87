//! Volumes as block devices of this machine: loop devices over their files, and the file systems on them.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use measure::host::mount_under;

use crate::holders::holders_of;
use crate::mounted::unmount;

/// Programs of the system are in these directories, which are not on the PATH of everybody.
const PROGRAMS: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
/// How long a device that is detached may still be held by what only looks at new devices.
const DETACHES_WITHIN: Duration = Duration::from_secs(2);
/// How often that is asked.
const POLL: Duration = Duration::from_millis(20);

/// Why volumes are no block devices, or have no file systems.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// A program that this needs is not installed.
    #[error("the program {0} is not there")]
    NoProgram(String),
    /// A program has ended with an error.
    #[error("the program {program} failed: {said}")]
    Failed {
        /// Its name.
        program: String,
        /// The first line that it wrote to its standard error, or its status.
        said: String,
    },
    /// The kernel reads the file of a loop device through the page cache.
    #[error("{0} does not use direct I/O")]
    NoDirectIo(PathBuf),
    /// A file system was asked for where something else is.
    #[error("{device} contains {found} already")]
    Occupied {
        /// The device.
        device: PathBuf,
        /// What is there, such as `ext4`.
        found: String,
    },
    /// The system has refused something.
    #[error("{path}: {error}")]
    System {
        /// The device or directory.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Loop devices over volumes, with the file systems on them that are mounted. When it is dropped, they are
/// unmounted and detached.
#[derive(Default)]
pub struct BlockDevices {
    // The file systems are unmounted first.
    mounts: Vec<MountedDevice>,
    devices: Vec<LoopDevice>,
}

/// A directory that was in use when it was unmounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftInUse {
    /// The directory.
    pub directory: PathBuf,
    /// Processes that had files open there, as far as this user may see them.
    pub holders: Vec<String>,
}

impl BlockDevices {
    /// Attaches each of the files of volumes to a loop device, with direct I/O.
    ///
    /// # Errors
    /// There is no loop device, or it does not use direct I/O. Nothing stays attached then.
    pub fn attach(files: &[PathBuf]) -> Result<Self, BlockError> {
        let devices = files.iter().map(|file| LoopDevice::attach(file));
        Ok(Self {
            mounts: Vec::new(),
            devices: devices.collect::<Result<_, _>>()?,
        })
    }

    /// The devices, in the order of the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.devices.iter().map(|device| device.path.as_path())
    }

    /// Mounts the device of a volume on `directory`. With an `owner`, the root of the file system gets the owner and
    /// the mode of that.
    ///
    /// # Errors
    /// The device has no file system that the kernel knows. What is mounted stays so until this is dropped.
    pub fn mount(
        &mut self,
        volume: usize,
        directory: &Path,
        owner: Option<&fs::Metadata>,
    ) -> Result<(), BlockError> {
        let device = self.devices[volume].path.clone();
        let mut command = system_program("mount");
        output_of("mount", command.arg(&device).arg(directory))?;
        let at_place = |error| BlockError::System {
            path: directory.to_owned(),
            error,
        };
        self.mounts.push(MountedDevice {
            device,
            directory: directory.canonicalize().map_err(at_place)?,
        });
        let Some(owner) = owner else {
            return Ok(());
        };
        let mode = fs::Permissions::from_mode(owner.permissions().mode());
        chown(directory, Some(owner.uid()), Some(owner.gid()))
            .and_then(|()| fs::set_permissions(directory, mode))
            .map_err(at_place)
    }

    /// Unmounts and detaches everything, also where files are open: what has them open goes on until it closes them
    /// or the array ends. What this process was not the last to mount or attach it leaves alone.
    #[must_use]
    pub fn take_down(mut self) -> Vec<LeftInUse> {
        let mounts = self.mounts.drain(..);
        mounts.filter_map(|mount| mount.unmount()).collect()
    }
}

/// Makes a file system of the type `kind` on `device`, unless it has one of that type: `false` then.
///
/// # Errors
/// Something else is on the device, or the file system cannot be made.
pub fn make_file_system(device: &Path, kind: &str) -> Result<bool, BlockError> {
    match contents_of(device)? {
        Some(found) if found == kind => return Ok(false),
        Some(found) => {
            let device = device.to_owned();
            return Err(BlockError::Occupied { device, found });
        }
        None => {}
    }
    let program = format!("mkfs.{kind}");
    output_of(&program, system_program(&program).arg(device))?;
    Ok(true)
}

/// What is on a device: the type of its file system, or another name of what blkid recognises; `None` for nothing.
fn contents_of(device: &Path) -> Result<Option<String>, BlockError> {
    /// The status of blkid where it recognises nothing.
    const NOTHING: i32 = 2;
    let mut command = system_program("blkid");
    command.args(["--probe", "--output", "export"]).arg(device);
    let output = run("blkid", &mut command)?;
    if output.status.code() == Some(NOTHING) {
        return Ok(None);
    }
    if !output.status.success() {
        return Err(failed("blkid", &output));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let value = |name: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    };
    let table = || Some(format!("a partition table ({})", value("PTTYPE")?));
    let found = value("TYPE").map(str::to_owned).or_else(table);
    Ok(Some(found.unwrap_or_else(|| "something".to_owned())))
}

/// A loop device over a file.
struct LoopDevice {
    path: PathBuf,
    /// The file as the kernel names it.
    file: PathBuf,
}

impl LoopDevice {
    fn attach(file: &Path) -> Result<Self, BlockError> {
        let system = |error| BlockError::System {
            path: file.to_owned(),
            error,
        };
        let file = file.canonicalize().map_err(system)?;
        let mut command = system_program("losetup");
        command.args(["--find", "--show", "--direct-io=on"]);
        let printed = output_of("losetup", command.arg(&file))?;
        let device = Self {
            path: PathBuf::from(printed.trim()),
            file,
        };
        // It may be off in spite of the option, where the file's alignment does not allow it.
        match device.says("dio").as_deref() {
            Some("1") => Ok(device),
            _ => Err(BlockError::NoDirectIo(device.path.clone())),
        }
    }

    /// What the kernel says of the device; `None` when it is not attached.
    fn says(&self, name: &str) -> Option<String> {
        let device = Path::new("/sys/block").join(self.path.file_name()?);
        let text = fs::read_to_string(device.join("loop").join(name)).ok()?;
        Some(text.trim_end_matches('\n').to_owned())
    }

    /// Somebody may have detached it, and attached another file.
    fn is_attached(&self) -> bool {
        self.says("backing_file")
            .is_some_and(|file| Path::new(&file) == self.file)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if !self.is_attached() {
            return;
        }
        let mut command = system_program("losetup");
        // A device that is in use is detached when the last user closes it.
        let _ = output_of("losetup", command.arg("--detach").arg(&self.path));
        let began = Instant::now();
        while self.is_attached() && began.elapsed() < DETACHES_WITHIN {
            std::thread::sleep(POLL);
        }
    }
}

/// A device that is mounted.
struct MountedDevice {
    device: PathBuf,
    directory: PathBuf,
}

impl MountedDevice {
    /// Unmounts it, lazily where it is in use; `None` where it was not.
    fn unmount(&self) -> Option<LeftInUse> {
        let mount = mount_under(&self.directory)?;
        let is_own = Path::new(&mount.mount_point) == self.directory
            && Path::new(&mount.source) == self.device;
        if !is_own || unmount(&self.directory, false).is_ok_and(|unmounted| unmounted) {
            return None;
        }
        let holders = holders_of(&self.directory);
        // What programs have written goes to the array before it ends.
        if let Ok(directory) = fs::File::open(&self.directory) {
            let _ = rustix::fs::syncfs(directory);
        }
        let _ = unmount(&self.directory, true);
        Some(LeftInUse {
            directory: self.directory.clone(),
            holders,
        })
    }
}

impl Drop for MountedDevice {
    fn drop(&mut self) {
        let _ = self.unmount();
    }
}

fn system_program(name: &str) -> Command {
    let mut command = Command::new(name);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:{PROGRAMS}"));
    command.stdin(Stdio::null());
    command
}

fn run(program: &str, command: &mut Command) -> Result<std::process::Output, BlockError> {
    command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BlockError::NoProgram(program.to_owned()),
        _ => BlockError::Failed {
            program: program.to_owned(),
            said: error.to_string(),
        },
    })
}

/// What a program prints, when it succeeds.
fn output_of(program: &str, command: &mut Command) -> Result<String, BlockError> {
    let output = run(program, command)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(failed(program, &output)),
    }
}

fn failed(program: &str, output: &std::process::Output) -> BlockError {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.trim().lines().next();
    BlockError::Failed {
        program: program.to_owned(),
        said: match line {
            Some(line) => line.trim_end_matches('.').to_owned(),
            None => output.status.to_string(),
        },
    }
}
