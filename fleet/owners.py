"""Who writes to the four ports, by the file they use: data with sources, and the name for a file of any other."""

import re
from typing import NamedTuple

OURS = "pyinfra-sparks"
HAND_MADE = "hand-made (ip)"
"""An address or an MTU that no profile and no file explains."""
AUTO = "NetworkManager (Wired connection N)"
"""The profile that it makes up for a port without one; DHCP."""
PERSON = "a person's keyfile (nmcli)"
TEMPORARY = "a profile without a lasting file"
STALE = "a profile whose file is gone"
UNKNOWN = "unknown"


class Known(NamedTuple):
    """A tool, the basename of the netplan file it writes, and where that was read."""

    pattern: str
    owner: str
    source: str


KNOWN: tuple[Known, ...] = (
    Known(
        r"99-nvidia-sync-cluster\.yaml",
        "NVIDIA Sync (Cluster Assistant)",
        "docs.nvidia.com/sync: cluster-network-inspection; field-notes, netplan and NetworkManager",
    ),
    Known(
        r"40-cx7\.yaml",
        "NVIDIA playbook helper, sparkrun or sparknet",
        "NVIDIA/dgx-spark-playbooks spark_cluster_setup; sparkrun cx7_configure.sh; "
        "christopherowen/dgx-spark-networking docs/topology.md",
    ),
    Known(r"98-spark-vllm-docker\.yaml", "spark-vllm-docker", "field-notes, netplan and NetworkManager"),
    Known(r"40-sparkring-fabric\.yaml", "sparkring", "FujitsuPolycom/sparkring, its network apply script"),
    Known(r"10-qsfp\.yaml", "dgxarley", "vroomfondel/dgxarley roles/dgx_prepare etc_netplan_10-qsfp.yaml.j2"),
    Known(r"40-dgx-spark-roce\.yaml", "dgx-spark-deepseek-fleet", "its fleet.py, `network apply`"),
    Known(r"50-cloud-init\.yaml", "cloud-init", "cloud-init's netplan renderer"),
    Known(r"00-installer-config\.yaml", "Ubuntu's installer", "subiquity"),
    Known(
        r"90-NM-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-.*)?\.yaml",
        "NetworkManager (a person's profile)",
        "Ubuntu's NetworkManager writes profiles through libnetplan",
    ),
)
"""Read 2026-11-29. A basename is not a proof: several tools and many guides use `40-cx7.yaml`."""


def owner_of(path: str) -> str:
    """Who writes a file of that name, or `unknown`."""
    name = path.rpartition("/")[2]
    return next((each.owner for each in KNOWN if re.fullmatch(each.pattern, name)), UNKNOWN)


def parse_leftovers(text: str) -> tuple[str, ...]:
    """The paths of files that NVIDIA Sync has put out of netplan's way, one a line, in order.

    It renames them to `….sync-disabled-…` (field-notes, netplan and NetworkManager).
    """
    found = [line for line in text.split("\n") if line]
    for line in found:
        if not (line.startswith("/") and ".sync-disabled-" in line.rpartition("/")[2]):
            raise ValueError("expected paths of renamed files, found another line")
    return tuple(sorted(found))
