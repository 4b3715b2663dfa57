"""What machine a host is, without its serial numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.machine import parse_dgx_release, parse_machine

RELEASE = """\
DGX_NAME="DGX Spark"
DGX_SWBUILD_VERSION="7.2.3"
DGX_SERIAL_NUMBER="0000000000000"

DGX_OTA_VERSION="7.3.1"
DGX_OTA_DATE="Mon Feb  2 10:00:00 UTC 2026"

DGX_OTA_VERSION="7.4.0"
DGX_OTA_DATE="Mon Mar  2 10:00:00 UTC 2026"
"""


def test_the_last_update_is_in_force() -> None:
    release = parse_dgx_release(RELEASE)
    assert (release.build_version, release.ota_version, release.version) == ("7.2.3", "7.4.0", "7.4.0")
    assert release.ota_date == "Mon Mar  2 10:00:00 UTC 2026"


def test_a_serial_number_is_not_read() -> None:
    assert "0000000000000" not in parse_dgx_release(RELEASE).canonical


def test_before_the_first_update_the_build_is_in_force() -> None:
    assert parse_dgx_release('DGX_SWBUILD_VERSION="7.2.3"\n').version == "7.2.3"


def test_a_machine_without_dmi_or_release_file() -> None:
    machine = parse_machine("hostname=box\narchitecture=aarch64\nproduct_name=\n")
    assert (machine.product_name, machine.dgx_release, machine.machine_id_digest) == (None, None, None)


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="expected architecture, found none"):
        parse_machine("hostname=box\n")


@given(st.text() | st.text().map(lambda text: f"hostname=a\narchitecture=b\nPRETTY_NAME={text}\n{text}"))
def test_any_text_is_read_or_a_value_error(text: str) -> None:
    for parse in (parse_machine, parse_dgx_release):
        try:
            parse(text)
        except ValueError:
            continue
