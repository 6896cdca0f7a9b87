"""What survives a power cut, and a disk that fails.

    python3 -m unittest -v test_power_cut
    pytest test_power_cut.py
"""

import os
import unittest
from contextlib import contextmanager

from served_array import BATTERIES_FAIL, HOLDS_WRITES, LIES, WITHOUT_BATTERY, ServedArray, reason_to_skip

BLOCK = 4096
ZEROS = bytes(BLOCK)


def block(number):
    """The contents of a block: its number, again and again."""
    return number.to_bytes(8, "little") * (BLOCK // 8)


@contextmanager
def opened(array):
    """The volume of an array. What was open when the power was cut is closed as what it is: gone."""
    file = os.open(array.volume(), os.O_RDWR)
    try:
        yield file
    finally:
        os.close(file)


@unittest.skipIf(reason_to_skip(), reason_to_skip() or "")
class PowerCut(unittest.TestCase):
    def test_a_battery_keeps_what_was_acknowledged(self):
        with ServedArray(settings=HOLDS_WRITES) as array:
            with opened(array) as file:
                for number in range(1, 50):
                    os.pwrite(file, block(number), number * BLOCK)
                array.power_cut()
            with opened(array) as file:
                for number in range(1, 50):
                    self.assertEqual(os.pread(file, BLOCK, number * BLOCK), block(number))
            self.assertEqual(array.state()["lost_sectors"], 0)

    def test_without_a_battery_what_was_flushed_is_there_and_no_more(self):
        with ServedArray(settings=WITHOUT_BATTERY, events=BATTERIES_FAIL) as array:
            with opened(array) as file:
                os.pwrite(file, block(1), 0)
                os.fsync(file)
                os.pwrite(file, block(2), 100 * BLOCK)
                array.power_cut()
                with self.assertRaises(OSError):
                    os.pread(file, BLOCK, 0)
            with opened(array) as file:
                self.assertEqual(os.pread(file, BLOCK, 0), block(1))
                self.assertEqual(os.pread(file, BLOCK, 100 * BLOCK), ZEROS)

    def test_a_cache_that_lies_loses_what_was_flushed(self):
        with ServedArray(settings=LIES, events=BATTERIES_FAIL) as array:
            with opened(array) as file:
                os.pwrite(file, block(1), 0)
                os.fsync(file)
                array.power_cut()
            with opened(array) as file:
                self.assertEqual(os.pread(file, BLOCK, 0), ZEROS)
            what = [event["what"] for event in array.state()["events"]]
            self.assertIn("data-lost", what)

    def test_data_are_there_without_a_disk(self):
        with ServedArray() as array, opened(array) as file:
            for number in range(1, 50):
                os.pwrite(file, block(number), number * BLOCK)
            os.fsync(file)
            array.event("disk-fail 0")
            self.assertEqual(array.state()["disks"][0]["condition"], "failed")
            for number in range(1, 50):
                self.assertEqual(os.pread(file, BLOCK, number * BLOCK), block(number))


if __name__ == "__main__":
    unittest.main()
