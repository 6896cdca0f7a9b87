"""A modelled array that is served while a test runs.

    with ServedArray("msa2050", size="1GiB") as array:
        file = os.open(array.volume(), os.O_RDWR)
        os.pwrite(file, b"x" * 4096, 0)
        array.power_cut(seconds=1)

Needs the program proofload (on the PATH, or named by the variable PROOFLOAD) and FUSE. Nothing else than the
standard library is used.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

FUSE = "/dev/fuse"

#: Settings of a cache that holds writes for long, so that a power cut finds them there.
HOLDS_WRITES = ["array.cache.destage.age_ms=600000"]
#: Settings of a cache that goes on without its battery.
WITHOUT_BATTERY = [*HOLDS_WRITES, "array.cache.write_back_without_battery=true"]
#: Settings of a cache that says a flush is done and does nothing.
LIES = [*WITHOUT_BATTERY, "array.cache.flush=ignored"]
#: Events that let the batteries of two controllers fail at the start.
BATTERIES_FAIL = ["0s battery-lost 0", "0s battery-lost 1"]


class ArrayError(Exception):
    """The array is not served, or has refused something; the text is what proofload says."""


def program():
    """The path of proofload, or None."""
    return os.environ.get("PROOFLOAD") or shutil.which("proofload")


def reason_to_skip():
    """Why no array can be served here, or None."""
    if program() is None:
        return "there is no proofload on the PATH"
    if not os.access(FUSE, os.R_OK | os.W_OK):
        return f"there is no FUSE ({FUSE})"
    return None


class ServedArray:
    """An array, its volumes mounted as files in a temporary directory, until stop() or the end of the block."""

    def __init__(self, array="msa2050", *, size="1GiB", volumes=1, settings=(), events=(), store=None, ready_within_s=120):
        self._directory = tempfile.TemporaryDirectory(prefix="served-array-")
        self._mount = Path(self._directory.name) / "array"
        self._socket = Path(self._directory.name) / "socket"
        self._said = Path(self._directory.name) / "said"
        self._mount.mkdir()
        command = [program(), "serve", array, "--at", self._mount, "--control", self._socket]
        command += ["--size", size, "--volumes", str(volumes)]
        command += [word for setting in settings for word in ("--set", setting)]
        command += [word for event in events for word in ("--event", event)]
        command += ["--store", store] if store else []
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            self._wait_until_ready(ready_within_s)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _wait_until_ready(self, within_s):
        until = time.monotonic() + within_s
        while not self.volume().exists():
            if self._process.poll() is not None:
                raise ArrayError(self.said())
            if time.monotonic() > until:
                raise ArrayError(f"The array is not mounted after {within_s} s.\n{self.said()}")
            time.sleep(0.02)

    def volume(self, number=1):
        """The path of a volume. Opened with os.open() it is read and written without a page cache."""
        return self._mount / f"volume-{number}"

    def event(self, text):
        """Lets something happen now, such as "disk-fail 3" or "disk-slow 5 x20 for 2m"."""
        return self._ask("event", self._socket, *text.split())

    def power_cut(self, seconds=1):
        """Cuts the power. What is open is gone and has to be opened again; reads and writes of what is opened
        since wait until the power is back."""
        return self.event(f"power-cut for {seconds}s")

    def state(self):
        """The state of the array as a dictionary: clients, disks, rebuilds, controllers, events."""
        return json.loads(self._ask("serve", "--json", "--status", self._socket))

    def said(self):
        """What proofload has said so far."""
        return self._said.read_text(errors="replace")

    def stop(self):
        """Ends the array as Ctrl-C does. What is not in a store is gone."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._process.wait()
        self._directory.cleanup()

    def _ask(self, *words):
        done = subprocess.run([program(), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ArrayError(done.stderr)
        return done.stdout
