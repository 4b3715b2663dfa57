"""What nvidia-smi writes, in the words of cases 120 and 122: no figure is never 0."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.gpu import ComputeApp, Gpu, GpuAnswer, GpuState, cell, number, parse_apps, parse_gpu_state, parse_gpus, whole
from fleet.memory import parse_memory
from fleet.record import Unobserved
from tests.conftest import CaseText

CASE_FIELDS = (
    "index", "name", "pci.bus_id", "driver_version", "memory.total", "memory.used", "memory.free",
    "clocks.sm", "power.draw", "pstate",
)  # fmt: skip
NO_VALUES = (
    "[N/A]", "N/A", "[Not Supported]", "Not Supported", "[Unknown Error]", "[GPU requires reset]",
    "[Insufficient Permissions]", "[Not Found]", "",
)  # fmt: skip
ROW = "0, NVIDIA GB10, 0000000F:01:00.0, 580.95.05, [N/A], [N/A], [N/A], 96, 2418, 61, 41.50, P0"


def gpu(row: str = ROW) -> Gpu:
    (found,) = parse_gpus(row)
    return found


def state(answer: str, **changed: Any) -> GpuState:
    text = {"answer": answer, "reason": "nvidia-smi: why", "module": "580.95.05", "gpus": None, "apps": None}
    return parse_gpu_state(json.dumps(text | changed))


def test_a_gb10_has_no_figure_for_its_memory(case: CaseText) -> None:
    (found,) = parse_gpus(case("120", "input.nounits.csv"), CASE_FIELDS)
    assert found.is_unified
    assert (found.name, found.pci_address, found.driver) == ("NVIDIA GB10", "000f:01:00.0", "580.173.02")
    memory = (found.memory_total_bytes, found.memory_used_bytes, found.memory_free_bytes)
    assert memory == (Unobserved(reason="nvidia-smi says [N/A]"),) * 3
    assert isinstance(found.sm_clock_mhz, Unobserved)
    assert found.performance_state == "P8"


def test_values_are_read_with_their_units_too(case: CaseText) -> None:
    header, row = (line.split(", ") for line in case("120", "input.csv").splitlines())
    said = dict(zip(header, row, strict=True))
    assert isinstance(number(said["memory.total [MiB]"]), Unobserved)
    assert (whole(said["utilization.gpu [%]"]), number(said["power.draw [W]"])) == (0, 11.17)
    assert whole(said["temperature.gpu"]) == 35


def test_its_amounts_are_those_of_the_host(case: CaseText) -> None:
    memory = parse_memory(case("120", "input.meminfo"))
    assert memory.total_bytes == 127600748 * 1024
    assert memory.available_bytes > 10 * memory.free_bytes


def test_the_table_is_no_answer(case: CaseText) -> None:
    with pytest.raises(ValueError, match="expected 12 values in a row"):
        parse_gpus(case("122", "input.txt"))


@pytest.mark.parametrize("text", NO_VALUES)
def test_no_value_is_unobserved_and_says_what_was_said(text: str) -> None:
    for read in (cell, number, whole):
        found = read(text)
        assert isinstance(found, Unobserved)
        assert (text or "nothing") in found.reason


def test_a_gpu_that_reports_a_small_amount_is_unified_by_its_name() -> None:
    """An N1X answered 8128 MiB (unslothai/unsloth#10283)."""
    found = gpu(ROW.replace("GB10", "N1X").replace("[N/A]", "8128"))
    assert found.is_unified
    assert found.memory_total_bytes == 8128 << 20
    assert not gpu(ROW.replace("GB10", "GeForce RTX 4090")).is_unified


@pytest.mark.parametrize("spelled", ["0000000F:01:00.0", "000F:01:00.0", "000f:01:00.0", "F:01:00.0"])
def test_an_address_has_one_spelling(spelled: str) -> None:
    assert gpu(ROW.replace("0000000F:01:00.0", spelled)).pci_address == "000f:01:00.0"


def test_what_changes_by_itself_is_not_stable() -> None:
    one, other = gpu(), gpu(ROW.replace("96, 2418, 61, 41.50, P0", "0, 208, 35, 3.10, P8"))
    assert one != other
    assert one.stable == other.stable


def test_an_app_keeps_commas_of_its_name() -> None:
    found = parse_apps("4121, VLLM::EngineCore, 96560\n77, a, b, [N/A]\n\n")
    assert found == (
        ComputeApp(pid=77, name="a, b", used_bytes=Unobserved(reason="nvidia-smi says [N/A]")),
        ComputeApp(pid=4121, name="VLLM::EngineCore", used_bytes=96560 << 20),
    )
    with pytest.raises(ValueError, match="expected pid, name and memory"):
        parse_apps("No running processes found")


def test_who_is_not_among_the_apps_holds_nothing() -> None:
    seen = state("seen", gpus=ROW, apps="4121, python3, 100\n4122, python3, 20\n4123, python3, [N/A]")
    assert (seen.used_by(4121, 4122), seen.used_by(1)) == (120 << 20, 0)
    assert isinstance(seen.used_by(4121, 4123), Unobserved)
    assert isinstance(state("seen", gpus=ROW).used_by(1), Unobserved)


@pytest.mark.parametrize("answer", [GpuAnswer.NO_DRIVER, GpuAnswer.MISMATCH, GpuAnswer.HUNG, GpuAnswer.FAILED])
def test_who_could_not_ask_has_not_seen_an_idle_gpu(answer: GpuAnswer) -> None:
    found = state(answer)
    assert found.answer is answer
    assert found.gpus == found.apps == found.used_by(1) == Unobserved(reason="nvidia-smi: why")


def test_no_devices_was_looked_for_and_so_is_no_driver_at_all() -> None:
    assert (state("no devices").gpus, state("not installed", module=None).apps) == ((), ())


def test_a_driver_that_nobody_can_ask_is_not_observed() -> None:
    assert isinstance(state("not installed").apps, Unobserved)


@given(st.text(alphabet="0123456789,[]N/A GB10.P:\n"))
def test_any_rows_are_read_or_a_value_error(text: str) -> None:
    for read in (parse_gpus, parse_apps):
        try:
            read(text)
        except ValueError:
            continue
