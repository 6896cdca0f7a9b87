"""A server of MariaDB for scripts that kill it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

# Longest time in which a server recovers and answers.
LONGEST_START_S = 600


class MariaDb:
    """A server of MariaDB with a directory of its own, and its data there or elsewhere."""

    def __init__(self, room, data=None):
        self.room, self.data = room, data or room / "data"
        self.user = ["--user=nobody"] if os.geteuid() == 0 else []
        self.process = None
        for directory in (room, self.data.parent):
            directory.mkdir(exist_ok=True)
            if self.user:
                shutil.chown(directory, "nobody")
        # A server that starts removes the temporary tables of all others from their directory.
        self.options = ["--no-defaults", f"--datadir={self.data}", f"--tmpdir={room}", *self.user]
        subprocess.run(["mariadb-install-db", *self.options, "--auth-root-authentication-method=normal",
                        "--skip-test-db"], check=True, stdout=subprocess.DEVNULL)
        if not self.start():
            sys.exit(f"MariaDB ended: {room}/log")

    def start(self):
        """Whether the server answers now; otherwise it has ended, and says why in its log."""
        path = f"{os.environ['PATH']}:/usr/sbin"
        with open(self.room / "log", "ab") as log:
            self.process = subprocess.Popen(
                [shutil.which("mariadbd", path=path), *self.options, f"--socket={self.room}/socket",
                 f"--pid-file={self.room}/pid", "--skip-networking", "--performance-schema",
                 "--performance-schema-instrument=wait/io/file/%=on", "--innodb-buffer-pool-size=32M"],
                stdout=subprocess.DEVNULL, stderr=log)
        until = time.monotonic() + LONGEST_START_S
        while subprocess.run(["mariadb-admin", "--no-defaults", "-uroot", f"--socket={self.room}/socket", "ping"],
                             capture_output=True).returncode:
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                return False
            time.sleep(0.1)
        return True

    def address(self):
        """What `--database` takes."""
        socket = str(self.room / "socket").replace("/", "%2F")
        return f"mariadb://root@{socket}"

    def kill(self):
        """Ends it as a loss of power does."""
        self.process.kill()
        self.process.wait()

    def end(self):
        """Shuts it down."""
        self.process.terminate()
        self.process.wait()
