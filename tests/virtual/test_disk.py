"""The partition table that is written by hand."""

import struct

from virtual.disk import partition_table


def test_one_bootable_partition_up_to_the_end_of_the_disk() -> None:
    table = partition_table(6 * 2**30)
    status, _, kind, _, first, sectors = struct.unpack("<B3sB3sII", table[446:462])
    assert len(table) == 512
    assert table[510:] == b"\x55\xaa"
    assert (status, kind, first) == (0x80, 0x83, 2048)
    assert (first + sectors) * 512 == 6 * 2**30


def test_no_other_partition() -> None:
    assert partition_table(6 * 2**30)[462:510] == bytes(48)
