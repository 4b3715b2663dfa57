"""Ask nvidia-smi about GPUs and print one JSON line. It may hang for good, so nobody waits for it after its time."""

import json
import os
import re
import signal
import subprocess
import time

MISMATCH = "driver/library version mismatch"
SAID = (
    (MISMATCH, "driver and library differ"),
    ("no devices were found", "no devices"),
    ("couldn't communicate with the nvidia driver", "no driver"),
)
"""Its own words, in lower case, and what they mean."""
STATUS = {6: "no devices", 9: "no driver", 18: "driver and library differ"}
"""What its exit status means where its words are others: nvidia-smi(1), and NVML's error 18."""


class Started:
    """One nvidia-smi at work."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen(
            [program, *arguments, "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def ended(self, until):
        """Its status and its words; (None, "") where it has none in time. A process in D state cannot be killed."""
        try:
            out, _ = self.process.communicate(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return None, ""
        return self.process.returncode, out.decode("utf-8", "replace").strip()


def module_version(root):
    """Of the kernel module that runs; None where none does."""
    try:
        with open(f"{root}/proc/driver/nvidia/version", encoding="utf-8", errors="replace") as file:
            line = file.readline()
    except OSError:
        return None
    found = re.search(r"(?<![\w.])(\d+\.\d+(?:\.\d+)?)(?![\w.])", line)
    return found.group(1) if found else "unknown"


def meaning(status, words):
    if status is None:
        return "hung"
    low = words.lower()
    for text, answer in SAID:
        if text in low:
            return answer
    return "seen" if status == 0 else STATUS.get(status, "failed")


def first_line(words):
    return (words.splitlines() or ["no word"])[0][:200]


def without_arguments(rows):
    """A process may call itself by its whole command line, and that may hold a token."""
    kept = []
    for row in rows.splitlines():
        pid, _, rest = row.partition(",")
        name, _, used = rest.rpartition(",")
        kept.append(", ".join((pid.strip(), (name.split() or ["?"])[0], used.strip())))
    return "\n".join(kept)


def look(asked):
    found = {"answer": "not installed", "reason": "nvidia-smi is not installed", "module": None}
    found |= {"gpus": None, "apps": None, "module": module_version(asked["root"])}
    try:
        gpus = Started(asked["program"], "--query-gpu=" + asked["gpu_fields"])
        apps = Started(asked["program"], "--query-compute-apps=" + asked["app_fields"])
    except FileNotFoundError:
        return found
    except OSError as error:
        return {**found, "answer": "failed", "reason": f"nvidia-smi: {error.strerror}"}
    until = time.monotonic() + asked["seconds"]
    (status, words), (app_status, app_words) = gpus.ended(until), apps.ended(until)
    found |= {"answer": meaning(status, words), "reason": f"nvidia-smi: {first_line(words)}"}
    if status is None:
        found["reason"] = f"nvidia-smi: no answer in {asked['seconds']} s"
    elif found["answer"] == "seen":
        found["gpus"] = words
        if app_status == 0:
            found["apps"] = without_arguments(app_words)
        else:
            said = f"no answer in {asked['seconds']} s" if app_status is None else first_line(app_words)
            found["reason"] = f"nvidia-smi, compute apps: {said}"
    return found


def main(text):
    print(json.dumps(look(json.loads(text))))
