"""What the kernel's command line says of secrets stays on the host: the look's own filter is run here."""

import subprocess

import pytest

from facts.kernel import Kernel

SECRET = "s3cr3t"


def filtered(command_line: str, tmp: str) -> str:
    """What the look prints where the host was booted with this."""
    command = str(Kernel().command()).replace("/proc/cmdline", tmp)
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "parameter",
    [
        "wpa_psk=s3cr3t", "rd.luks.key=s3cr3t", "luks.passphrase=s3cr3t", "api_key=s3cr3t", "tailscale.authkey=s3cr3t",
        "autoinstall.auth=s3cr3t", "x.credentials=s3cr3t", "serial=s3cr3t", "ds=nocloud;s=http://u:s3cr3t@h/",
        "url=http://u:s3cr3t@h/", "PASSWORD=s3cr3t", "x.token=s3cr3t", 'secret="a s3cr3t"', "systemd.machine_id=s3cr3t",
    ],
)  # fmt: skip
def test_a_secret_stays_on_the_host(parameter: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("proc") / "cmdline"
    file.write_text(f"root=/dev/vda1 {parameter} kho=off\n")
    said = filtered(file.read_text(), str(file))
    assert SECRET not in said
    assert "root=/dev/vda1" in said
    assert "kho=off" in said
