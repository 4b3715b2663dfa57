"""What `ib_write_bw` of perftest prints: a bandwidth, or why there is none."""

import re

MEBIBYTE = 2**20
"""perftest's MB/sec and MiB/sec are both 2^20 bytes a second (perftest 4.5 to 25.01)."""

MARGIN_SECONDS = 1
"""Left out at either end of a run, so that starting and stopping are not measured (`--margin`)."""

NOT_THERE_YET = "Couldn't connect to"
"""What a client says while its server does not listen yet."""

_HEAD = re.compile(r"#bytes\s+#iterations\s+BW peak\[(?P<unit>[A-Za-z]+/sec)\]\s+BW average\[(?P=unit)\]")
_ROW = re.compile(r"^\s*(?P<bytes>[0-9]+)\s+(?P<count>[0-9]+)\s+[-0-9.naif]+\s+(?P<average>[0-9.]+)\b", re.MULTILINE)
_UNITS = {"Gb/sec": 1.0, "MB/sec": 8 * MEBIBYTE / 1e9, "MiB/sec": 8 * MEBIBYTE / 1e9}
_COMPLAINTS = re.compile(
    r"^\s*(?P<words>(?:Couldn't|Unable|Failed|Found Incompatibility|Error|ERROR|ethernet_|Completion with error"
    r"|Invalid|Cannot|No such|Port number).*?)\s*$",
    re.MULTILINE,
)


def parse_bandwidth(text: str, seconds: int) -> float:
    """Gb/s of a run of so many seconds from its output; raises ValueError with the reason where it has none.

    A run with the wrong GID index prints its head, no row, and ends with status 0. A host whose clock perftest
    cannot calibrate shows 0: then bytes and seconds are counted instead.
    """
    head = _HEAD.search(text)
    row = _ROW.search(text, head.end()) if head else None
    if head is None or row is None:
        raise ValueError(_complaint(text))
    if head["unit"] not in _UNITS:
        raise ValueError(f"expected Gb/sec or MiB/sec, found {head['unit']}")
    average = float(row["average"]) * _UNITS[head["unit"]]
    counted = int(row["bytes"]) * int(row["count"]) * 8 / 1e9 / (seconds - 2 * MARGIN_SECONDS)
    return average or counted


def _complaint(text: str) -> str:
    """The first line that complains; perftest says more after it, and less useful."""
    found = _COMPLAINTS.search(text)
    return found["words"][:120] if found else "no row of results"
