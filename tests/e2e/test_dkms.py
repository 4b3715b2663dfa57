"""Real DKMS on a virtual Spark that boots by GRUB: a module that one of its kernels alone has.

What it "builds" is a module of the same kernel under another name: these machines have no compiler.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import pyinfra
from tests.e2e.kernels import Kernels

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.grub, pytest.mark.nightly, pytest.mark.timeout(3600)]

NAME, VERSION = "lab-nic", "1.0"
SOURCE = f"/usr/src/{NAME}-{VERSION}"
CONF = f"""\
PACKAGE_NAME={NAME}
PACKAGE_VERSION={VERSION}
BUILT_MODULE_NAME[0]={NAME}
DEST_MODULE_LOCATION[0]=/updates/dkms
MAKE[0]="python3 make.py $kernelver"
CLEAN=true
"""
MAKE = f"""\
import glob, lzma, sys
(path,) = glob.glob(f"/lib/modules/{{sys.argv[1]}}/kernel/drivers/net/dummy.ko*")
content = open(path, "rb").read()
open("{NAME}.ko", "wb").write(lzma.decompress(content) if path.endswith(".xz") else content)
"""


def build(release: str) -> str:
    """A script that has DKMS build and install the module for a kernel."""
    return f"""
set -e
mkdir -p {SOURCE} /usr/src/no-headers/include
cat > {SOURCE}/dkms.conf <<'END'
{CONF}END
cat > {SOURCE}/make.py <<'END'
{MAKE}END
dkms install {NAME}/{VERSION} -k {release} --kernelsourcedir /usr/src/no-headers 2>&1
"""


def test_a_module_that_the_next_kernel_lacks_is_told(grub: "Lab", tmp_path: Path) -> None:
    grub.reset()
    site = Kernels(grub, tmp_path)
    site.wants(site.policy(site.stock, site.rt))
    site.on(build(site.rt))
    fact = pyinfra(tmp_path / "trace.jsonl", site.inventory, "fact", "facts.kernels.DkmsModules", "--json")
    (by_host,) = json.loads(fact.out).values()
    modules = by_host[site.name]["modules"]
    assert [(each["name"], each["version"], each["kernel"], each["state"]) for each in modules] == [
        (NAME, VERSION, site.rt, "installed")
    ]
    told = site.sparks("doctor", site.name).stdout
    assert f"kernel.dkms_missing {site.name} DKMS: expected {NAME} built for {site.stock}, which boots next" in told
    site.on(build(site.stock))
    assert "kernel.dkms_missing" not in site.sparks("doctor", site.name).stdout
    grub.reset()
