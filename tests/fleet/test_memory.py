"""/proc/meminfo in bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.memory import parse_memory

MEMINFO = """\
MemTotal:       127601268 kB
MemFree:        101200000 kB
MemAvailable:   115343360 kB
SwapTotal:             0 kB
SwapFree:              0 kB
HugePages_Total:       4
HugePages_Free:        3
Hugepagesize:       2048 kB
CmaTotal:              0 kB
CmaFree:         9751756 kB
"""


def test_amounts_are_in_bytes_and_counts_are_not() -> None:
    memory = parse_memory(MEMINFO)
    assert memory.total_bytes == 127601268 * 1024
    assert (memory.hugepages_total, memory.hugepages_free, memory.hugepage_size_bytes) == (4, 3, 2 << 20)


def test_a_kernel_that_keeps_cma_to_itself_is_told() -> None:
    assert parse_memory(MEMINFO).has_unaccounted_cma
    assert not parse_memory(MEMINFO.replace("9751756", "0")).has_unaccounted_cma


def test_a_kernel_without_cma_has_no_figure_for_it() -> None:
    without = "\n".join(line for line in MEMINFO.splitlines() if not line.startswith("Cma"))
    memory = parse_memory(without)
    assert (memory.cma_total_bytes, memory.cma_free_bytes, memory.has_unaccounted_cma) == (None, None, False)


@pytest.mark.parametrize("name", ["MemTotal", "MemAvailable", "MemFree", "SwapTotal", "SwapFree"])
def test_what_every_kernel_has_must_be_there(name: str) -> None:
    with pytest.raises(ValueError, match=f"expected {name}, found none"):
        parse_memory(MEMINFO.replace(name, "Other"))


@given(st.text())
def test_any_text_is_read_or_a_value_error(text: str) -> None:
    try:
        parse_memory(text)
    except ValueError:
        return
