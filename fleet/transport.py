"""The environment with which NCCL, UCX, Gloo, Ray and vLLM find the rails of one Spark: for each its own.

Sources: field-notes "RoCE GIDs" and "fabric", cases/062, NVIDIA's NCCL documentation of its environment variables.
"""

from collections.abc import Mapping

from fleet.cluster import Cluster, shape_of
from fleet.fabric import Fabric
from fleet.links import find_link
from fleet.observation import Observation, known
from fleet.rail import RailEnd
from fleet.refusal import Refusal
from fleet.roce import RoceDevice, common_index, usable_gids
from fleet.shape import Shape

SECTIONS = ("links", "roce_devices", "roce_gids")
"""The sections of an observation that an environment is made from."""

LOOPBACK = ("lo", "127.0.0.1")
"""Where the processes of a lone Spark meet."""

ROCE = {
    "NCCL_NET": "IB",
    "NCCL_IB_DISABLE": "0",
    "NCCL_IB_ROCE_VERSION_NUM": "2",
    "NCCL_IB_ADDR_FAMILY": "AF_INET",
    "NCCL_IB_SUBNET_AWARE_ROUTING": "1",
    "NCCL_IB_MERGE_NICS": "0",
    "NCCL_NET_PLUGIN": "none",
    "NCCL_IGNORE_CPU_AFFINITY": "1",
}
"""On every Spark with a rail. Each rail is a subnet of its own, so no two HCAs may be merged into one."""

NEIGHBOURS_ONLY = {
    "NCCL_ALGO": "Ring",
    "NCCL_MIN_NCHANNELS": "1",
    "NCCL_MAX_NCHANNELS": "1",
    "NCCL_RUNTIME_CONNECT": "1",
    "NCCL_CUMEM_ENABLE": "1",
}
"""A ring has no way to the Spark across: one ring channel in cable order, and no tree connected ahead of need.

Lazy connection (RUNTIME_CONNECT) works only with cuMem allocations.
"""

RAY = {"RAY_memory_monitor_refresh_ms": "0"}
"""Ray's monitor would kill workers on a Spark, whose memory the GPU shares."""

Environment = dict[str, str]


def transport_environment(
    cluster: Cluster, fabrics: Mapping[str, Fabric], spark: str, management: str, seen: Observation
) -> Environment | tuple[Refusal, ...]:
    """The variables of one Spark of a cluster, or every reason why there are none.

    + management: the interface that carries SSH; where no rail reaches every rank, ranks meet over it
    """
    if blind := seen.unobserved(*SECTIONS):
        return (blind,)
    shape = shape_of(cluster, fabrics)
    if shape is Shape.SINGLE:
        return {**_meeting(*LOOPBACK), **RAY}
    ends = tuple(end for end in fabrics[str(cluster.fabric)].ends if end.spark == spark)
    control = _control(shape, ends, management, seen)
    missing = [each for each in (*(_unusable(end, seen) for end in ends), control) if isinstance(each, Refusal)]
    if missing or isinstance(control, Refusal):
        return tuple(missing)
    environment = {**ROCE, **_hcas(ends, seen), **_meeting(*control), **RAY}
    environment["NCCL_CROSS_NIC"] = "0" if shape in (Shape.PAIR, Shape.SWITCH) else "1"
    return environment | (NEIGHBOURS_ONLY if shape is Shape.RING else {})


def _control(shape: Shape, ends: tuple[RailEnd, ...], management: str, seen: Observation) -> tuple[str, str] | Refusal:
    """Interface and address at which ranks find each other: the first rail where it reaches all of them."""
    if shape in (Shape.PAIR, Shape.SWITCH):
        return ends[0].interface, str(ends[0].address.ip)
    link = find_link(known(seen.links), management)
    own = () if link is None else link.ipv4
    if not own:
        return Refusal(
            code="management_address_missing",
            subject=f"{seen.host} {management}",
            expected="an IPv4 address at which the ranks of a ring can meet",
            found="none" if link else "no such interface",
        )
    return management, own[0].partition("/")[0]


def _unusable(end: RailEnd, seen: Observation) -> Refusal | None:
    if usable_gids(known(seen.roce_gids), end.interface, end.address) and _device(end, seen):
        return None
    return Refusal(
        code="transport_unavailable",
        subject=str(end),
        expected=f"an active RoCE v2 GID for {end.address.ip}",
        found="none in the device's table" if _device(end, seen) else "no RDMA device above it",
        hint="converge the fabric first: the environment is made from what the Spark has",
    )


def _device(end: RailEnd, seen: Observation) -> RoceDevice | None:
    return next((each for each in known(seen.roce_devices) if end.interface in each.netdevs and each.is_roce), None)


def _hcas(ends: tuple[RailEnd, ...], seen: Observation) -> Environment:
    """The HCAs by exact name, and the one GID index of all of them where there is one."""
    devices = [device for end in ends if (device := _device(end, seen))]
    names = ",".join(f"{each.device}:{each.port}" for each in devices)
    index = common_index(known(seen.roce_gids), [(end.interface, end.address) for end in ends])
    pinned = {} if index is None else {"NCCL_IB_GID_INDEX": str(index)}
    return {"NCCL_IB_HCA": f"={names}", "UCX_NET_DEVICES": names, **pinned}


def _meeting(interface: str, address: str) -> Environment:
    """Where control traffic goes: every library has its own names for it."""
    by_interface = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "MN_IF_NAME")
    by_address = ("VLLM_HOST_IP", "RAY_NODE_IP_ADDRESS", "RAY_OVERRIDE_NODE_IP_ADDRESS")
    return {
        **dict.fromkeys(by_interface, interface),
        "OMPI_MCA_btl_tcp_if_include": interface,
        **dict.fromkeys(by_address, address),
    }
