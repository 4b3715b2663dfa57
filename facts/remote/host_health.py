"""Count what the kernel has complained of, or read versions of firmware; {"error": …} where it cannot.

No line of the kernel leaves the host, and no serial number is read.
"""

import glob
import json
import os
import re
import subprocess

FIRST_SECONDS = 60
"""A journal whose first line of the boot is older than this after the boot's own start was rotated."""


class Blind(Exception):
    """Why something could not be seen."""


def read(*parts):
    try:
        with open(os.path.join(*parts), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def kernel_lines():
    """Every line of this boot with its time, as it comes; raises Blind where the journal cannot be read."""
    command = ["journalctl", "--dmesg", "--boot", "--output", "short-unix", "--no-pager", "--quiet"]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise Blind(f"journalctl: {type(error).__name__}") from error
    with process:
        yield from process.stdout
        complaint = process.stderr.read().strip().splitlines()
    if process.returncode != 0:
        raise Blind(f"journalctl: {(complaint or ['failed'])[-1][:200]}")


def counted(found, match, time):
    found["count"] += 1
    found["last_seconds"] = time
    for subject in match.groups():
        found["subjects"][subject] = found["subjects"].get(subject, 0) + 1


def booted(root):
    said = read(root, "proc/stat") or ""
    return next((float(line.split()[1]) for line in said.splitlines() if line.startswith("btime ")), 0.0)


def journal(root, asked):
    patterns = {name: re.compile(each) for name, each in asked["sentinels"].items()}
    found = {name: {"count": 0, "last_seconds": None, "subjects": {}} for name in patterns}
    first = None
    for line in kernel_lines():
        stamp, _, rest = line.partition(" ")
        time = float(stamp) if re.fullmatch(r"\d+(\.\d+)?", stamp) else None
        if time is None:
            continue
        first = time if first is None else first
        for name, pattern in patterns.items():
            match = pattern.search(rest)
            if match:
                counted(found[name], match, time)
    if first is None:
        raise Blind("journalctl: expected lines of the kernel since the boot, found none")
    return {"sentinels": found, "from_start": first - booted(root) < FIRST_SECONDS}


def coalescing(name):
    """`get-feature:0x08 (Interrupt Coalescing), Current value:0x00000000` (nvme-cli 2)."""
    try:
        done = subprocess.run(["nvme", "get-feature", f"/dev/{name}", "--feature-id=8"],
                              capture_output=True, text=True, timeout=20)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"[Cc]urrent value:\s*(0x[0-9a-fA-F]+|\d+)", done.stdout)
    return int(found[1], 0) if done.returncode == 0 and found else None


def disks(root):
    for path in sorted(glob.glob(os.path.join(root, "sys/class/nvme/nvme*"))):
        name = os.path.basename(path)
        yield {"name": name, "model": read(path, "model") or "", "firmware": read(path, "firmware_rev") or "",
               "coalescing": coalescing(name)}  # fmt: skip


def resources(root):
    """The rows of the UEFI's own table; the kernel shows them since 4.3 (Documentation/ABI, sysfs-firmware-efi)."""
    for path in glob.glob(os.path.join(root, "sys/firmware/efi/esrt/entries/entry*")):
        guid, version, attempt = (read(path, name) or "" for name in ("fw_class", "fw_version", "last_attempt_status"))
        if guid and version.isdecimal():
            yield {"guid": guid, "version": int(version), "last_attempt": int(attempt) if attempt.isdecimal() else 0}


def firmware(root, asked):
    dmi = os.path.join(root, "sys/class/dmi/id")
    versions = {os.path.basename(each): read(each, "fw_ver")
                for each in sorted(glob.glob(os.path.join(root, "sys/class/infiniband/*")))}  # fmt: skip
    return {
        "bios_version": read(dmi, "bios_version"),
        "bios_date": read(dmi, "bios_date"),
        "product": read(dmi, "product_name"),
        "board": read(dmi, "board_name"),
        "resources": sorted(resources(root), key=lambda each: each["guid"]),
        "rdma": {name: version for name, version in versions.items() if version},
        "nvme": list(disks(root)),
        "nvidia_driver": read(root, "sys/module/nvidia/version"),
    }


LOOKS = {"journal": journal, "firmware": firmware}


def main(text):
    asked = json.loads(text)
    try:
        print(json.dumps(LOOKS[asked["what"]](asked["root"] or "/", asked)))
    except Blind as blind:
        print(json.dumps({"error": str(blind)}))
