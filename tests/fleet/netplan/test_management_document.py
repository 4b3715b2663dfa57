"""The file of a management connection: libnetplan's own text, and the profile that netplan makes of it."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.management import Management
from fleet.netplan.management import management_document
from tests.fleet.netplan.host import look, write

WRITTEN: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("management_by_libnetplan.yaml").read_text(encoding="utf-8")
)


def management(values: Any) -> Management:
    return Management.model_validate_json(json.dumps(values), strict=True)


@pytest.mark.parametrize("case", WRITTEN)
def test_a_document_is_byte_for_byte_what_networkmanager_writes(case: str) -> None:
    document = management_document("srv5", management(WRITTEN[case]["management"]))
    assert document.text == WRITTEN[case]["text"].replace("UUID", document.uuid)
    assert document.path == f"/etc/netplan/90-NM-{document.uuid}.yaml"


@pytest.mark.parametrize("case", WRITTEN)
def test_a_document_is_read_back_as_it_was_meant(case: str, tmp_path: Path) -> None:
    wanted = management(WRITTEN[case]["management"])
    document = management_document("srv5", wanted)
    (file,) = look(write(tmp_path, {document.path.lstrip("/"): document.text}))
    (device,) = file.devices
    assert (file.error, device.errors) == (None, ())
    assert (device.binds.interface, device.uuid, device.mtu) == ("enP7s7", document.uuid, wanted.mtu)
    assert device.method4 == ("auto" if wanted.dhcp else "manual")
    assert device.addresses == ((str(wanted.address),) if wanted.address else ())
    assert device.gateway4 == (str(wanted.gateway) if wanted.gateway else None)
    assert device.nameservers == tuple(map(str, wanted.nameservers))
    assert device.method6 == "auto"


@pytest.mark.skipif(shutil.which("netplan") is None, reason="needs netplan.io")
@pytest.mark.parametrize("case", WRITTEN)
def test_netplan_takes_a_document_without_a_word(case: str, tmp_path: Path) -> None:
    wanted = management(WRITTEN[case]["management"])
    document = management_document("srv5", wanted)
    write(tmp_path, {document.path.lstrip("/"): document.text})
    done = subprocess.run(
        ["netplan", "generate", "--root-dir", str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (keyfile,) = (tmp_path / "run/NetworkManager/system-connections").iterdir()
    lines = keyfile.read_text().splitlines()
    assert f"uuid={document.uuid}" in lines
    assert ("method=auto" if wanted.dhcp else "method=manual") in lines[lines.index("[ipv4]") :]
    if wanted.address:
        assert f"address1={wanted.address}" + (f",{wanted.gateway}" if wanted.gateway else "") in lines
