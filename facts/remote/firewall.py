"""Look at what may stop a packet that a host forwards and print one JSON line; what could not be read is {"error": …}.

Of the rules only interfaces, networks and targets leave the host: never a comment or a string that is matched.
"""

import json
import shlex
import shutil
import subprocess

FIELDS = {"-i": "into", "-o": "out", "-s": "source", "-d": "destination"}
IPTABLES_TABLES = ("filter", "mangle", "raw", "security", "nat")


class Blind(Exception):
    """Why something could not be seen."""


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=40)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Blind(f"{command[0]}: {type(error).__name__}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["failed"]
        raise Blind(f"{command[0]}: {said[-1][:200]}")
    return done.stdout


def nft(*arguments):
    try:
        return json.loads(run("nft", "-j", *arguments))["nftables"]
    except (ValueError, KeyError) as error:
        raise Blind(f"nft: expected JSON, found {type(error).__name__}") from error


def states(*names):
    """systemd's words for some units; None for one that is not there."""
    text = run("systemctl", "show", *names, "--property", "LoadState,ActiveState")
    blocks = [dict(line.partition("=")[::2] for line in block.splitlines()) for block in text.split("\n\n")]
    return [each["ActiveState"] if each["LoadState"] == "loaded" else None for each in blocks]


def rule(tokens):
    """The fields of one rule of `iptables -S`; every option that is not known here narrows it."""
    found, narrowed, inverse = {}, False, ""
    while tokens:
        option = tokens.pop(0)
        if option in ("-j", "-g"):
            found["target"] = tokens.pop(0)
            break
        if option == "!":
            inverse = "!"
            continue
        if option in FIELDS:
            found[FIELDS[option]] = inverse + tokens.pop(0)
        elif (option == "-m" and tokens[:1] == ["comment"]) or option == "--comment":
            del tokens[0]
        elif option.startswith("-"):
            narrowed = True
        inverse = ""
    return {**found, "narrowed": narrowed}


def chains(text):
    found = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind in ("-P", "-N"):
            name, _, policy = rest.partition(" ")
            found[name] = {"name": name, "policy": policy or None, "rules": []}
        elif kind == "-A":
            name, *tokens = shlex.split(rest)
            found[name]["rules"].append(rule(tokens))
    return found


def met(found, names):
    """These chains, and those that a packet can meet from them on."""
    seen, left = {}, list(names)
    while left:
        name = left.pop(0)
        if name in found and name not in seen:
            seen[name] = found[name]
            left += [each["target"] for each in found[name]["rules"] if "target" in each]
    return list(seen.values())


def old_tables(root):
    """The tables of iptables' old variant that the kernel has now; asking that variant itself would load them."""
    try:
        with open(f"{root}/proc/net/ip_tables_names", encoding="ascii") as file:
            return file.read().split()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Blind(f"/proc/net/ip_tables_names: {error.strerror}") from error


def programs(root):
    """The iptables that Docker calls, and the old variant where rules of both are in the kernel at once."""
    if shutil.which("iptables") is None:
        return [], False
    is_native, is_old = "nf_tables" in run("iptables", "-V"), "filter" in old_tables(root)
    if is_native:
        return ["iptables", "iptables-legacy"] if is_old else ["iptables"], True
    return ["iptables"] if is_old else [], False


def foreign(is_native):
    """Native nftables chains on the way of a forwarded packet that drop what they do not accept."""
    if shutil.which("nft") is None:
        return
    for each in nft("list", "chains"):
        chain = each.get("chain", {})
        if chain.get("hook") != "forward" or chain.get("policy") != "drop" or chain["family"] not in ("ip", "inet"):
            continue
        is_seen = is_native and chain["family"] == "ip" and chain["table"] in IPTABLES_TABLES
        if is_seen or chain["table"] == "firewalld":
            continue
        rules = nft("list", "chain", chain["family"], chain["table"], chain["name"])
        named = {name for item in rules for name in accepted(item.get("rule", {}).get("expr", []))}
        yield {"table": f"{chain['family']} {chain['table']}", "name": chain["name"], "accepts": sorted(named)}


def accepted(expressions):
    """The interfaces that a rule names where it accepts what arrives there."""
    found = []
    for match in (each["match"] for each in expressions if "match" in each and {"accept": None} in expressions):
        if match["op"] == "==" and isinstance(match["left"], dict):
            key = match["left"].get("meta", {}).get("key")
            right = match["right"].get("set", []) if isinstance(match["right"], dict) else [match["right"]]
            found += [name for name in right if key in ("iifname", "iif") and isinstance(name, str)]
    return found


def zones(is_active):
    """The zone of each interface, as firewalld has it; None where it does not run."""
    if not is_active:
        return None
    found, zone = {}, None
    for line in run("firewall-cmd", "--get-active-zones").splitlines():
        if line[:1].strip():
            zone = line.split()[0]
        elif line.strip().startswith("interfaces:"):
            found.update(dict.fromkeys(line.split()[1:], zone))
    return found


def look(asked):
    docker, firewalld = states("docker.service", "firewalld.service")
    names, is_native = programs(asked["root"])
    tables = [met(chains(run(each, "-w", "10", "-S")), asked["chains"]) for each in names]
    return {
        "docker": docker,
        "filters": [{"program": name, "chains": table} for name, table in zip(names, tables, strict=True)],
        "foreign": list(foreign(is_native)),
        "zones": zones(firewalld == "active"),
    }


def main(text):
    try:
        print(json.dumps(look(json.loads(text))))
    except Blind as blind:
        print(json.dumps({"error": str(blind)}))
