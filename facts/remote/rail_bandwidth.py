"""Walk through this host's bandwidth tests in their global order and print one JSON line: `{"answers": […]}`.

In each test the host is the client, which writes to its peer and measures, or the server. A client tries until its
server listens; a server waits for its client. Test number n is given up when (n + 1) slots have passed since the
start: by then all tests before it are done on every host, or given up too. Every process runs under `timeout`.
"""

import glob
import json
import shutil
import subprocess
import time

TOOL = "ib_write_bw"
MESSAGE_BYTES = 65536
SETUP_SECONDS = 20
"""What a run may take besides measuring: a start takes 5 s on an emulated CPU that others keep busy."""
MEETING_SECONDS = 20
AGAIN_SECONDS = 0.5


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def gid_of(interface, address):
    """The device, port and lowest index of the RoCE v2 GID of an address on an interface; None where there is none."""
    octets = [int(octet) for octet in address.split(".")]
    gid = "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" % tuple(octets)
    tables = glob.glob("/sys/class/infiniband/*/ports/*/gids")
    if not tables:
        return None
    # One process reads a table of 1024 entries in a third of a second; this one would take five.
    found = subprocess.run(["grep", "-rslx", gid, *tables], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    places = []
    for path in found.stdout.decode().split():
        port, _, index = path.partition("/gids/")
        is_v2 = read("%s/gid_attrs/types/%s" % (port, index)) == "RoCE v2"
        if is_v2 and read("%s/gid_attrs/ndevs/%s" % (port, index)) == interface:
            places.append((port.split("/")[4], int(port.split("/")[6]), int(index)))
    return min(places, key=lambda place: place[2]) if places else None


def run(test, place, seconds, limit):
    """One run of perftest; a client names its peer."""
    device, port, index = place
    command = [
        "timeout", "-k", "2", str(max(1, round(limit))), TOOL,
        "-d", device, "-i", str(port), "-x", str(index), "-p", str(test["port"]), "--bind_source_ip", test["own"],
        "-F", "--report_gbits", "-s", str(MESSAGE_BYTES), "-D", str(seconds), "-f", str(test["margin"]),
    ]  # fmt: skip
    if test["role"] == "source":
        command.append(test["peer"])
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return {"status": done.returncode, "out": done.stdout.decode("utf-8", "replace")}


def take_part(test, seconds, give_up):
    place = gid_of(test["interface"], test["own"])
    if place is None:
        return {"error": "no RoCE v2 GID for %s on %s" % (test["own"], test["interface"])}
    needs = seconds + SETUP_SECONDS
    if test["role"] == "target":
        answer = run(test, place, seconds, give_up - time.monotonic())
    else:
        while True:
            answer = run(test, place, seconds, needs)
            is_late = time.monotonic() + needs > give_up
            if is_late or test["not_there_yet"] not in answer["out"]:
                break
            time.sleep(AGAIN_SECONDS)
    return dict(answer, device=place[0], index=place[2])


def main(arguments):
    asked = json.loads(arguments)
    if shutil.which(TOOL) is None:
        print(json.dumps({"refused": "expected %s of perftest, found none" % TOOL}))
        return
    start, seconds = time.monotonic(), asked["seconds"]
    slot = seconds + SETUP_SECONDS + MEETING_SECONDS
    answers = []
    for test in asked["tests"]:
        give_up = start + (test["number"] + 1) * slot
        answers.append(dict(take_part(test, seconds, give_up), role=test["role"], direction=test["direction"]))
    print(json.dumps({"answers": answers, "untested": asked["untested"], "seconds": seconds}))
