"""The containers of a host, as Docker describes them. Pure.

A daemon that does not run, is not installed or may not be asked is never an empty list: nobody looked.
"""

import json
from typing import Annotated, Literal

from pydantic import Field

from fleet.ollama.settings import VISIBLE as OLLAMA_VISIBLE
from fleet.record import VOLATILE, Digest, Record

SOCKET = "/run/docker.sock"
OWN_LABELS = "sparks."
"""What labels of ours begin with."""
LABELS = (
    OWN_LABELS, "org.opencontainers.image.version", "org.opencontainers.image.revision",
    "com.docker.compose.project", "com.docker.compose.service",
)  # fmt: skip
"""Of labels, what may leave a host: beginnings of their names."""

VISIBLE = OLLAMA_VISIBLE | {
    "CUDA_VERSION", "GGML_RPC_NO_RDMA", "GLOO_SOCKET_IFNAME", "HF_HOME", "HF_HUB_OFFLINE", "MN_IF_NAME",
    "NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_CUMEM_ENABLE", "NCCL_DEBUG", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_DISABLE",
    "NCCL_IB_GID_INDEX", "NCCL_IB_HCA", "NCCL_IB_MERGE_NICS", "NCCL_IB_ROCE_VERSION_NUM",
    "NCCL_IB_SUBNET_AWARE_ROUTING", "NCCL_IGNORE_CPU_AFFINITY", "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS",
    "NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_RUNTIME_CONNECT", "NCCL_SOCKET_IFNAME", "NVIDIA_DRIVER_CAPABILITIES",
    "OMPI_MCA_btl_tcp_if_include", "RAY_NODE_IP_ADDRESS", "RAY_OVERRIDE_NODE_IP_ADDRESS",
    "RAY_memory_monitor_refresh_ms", "TORCH_CUDA_ARCH_LIST", "TP_SOCKET_IFNAME", "TRANSFORMERS_OFFLINE",
    "UCX_NET_DEVICES", "VLLM_ATTENTION_BACKEND", "VLLM_HOST_IP", "VLLM_LOGGING_LEVEL", "VLLM_SERVER_DEV_MODE",
    "VLLM_USE_V1",
}  # fmt: skip
"""Variables whose values may leave a host: settings of engines and of their transport. Never a key or a token."""


class Mount(Record):
    """What of the host, or which volume, a container has."""

    type: str
    """`bind`, `volume` or `tmpfs`."""
    source: str
    """A path of the host, or the name of a volume."""
    target: str
    writable: bool


class Container(Record):
    """One container, whether it runs or not."""

    name: str
    id: str
    image: str
    """As it was asked for when the container was made: a tag, which moves, or a digest."""
    image_id: Digest
    """Of the image's configuration; it is what the container was made of, wherever its tag is now."""
    repo_digests: tuple[str, ...] = ()
    """`name@sha256:…` of its manifest in registries; none where it was made or loaded on this host."""
    labels: dict[str, str] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    """Every variable by name; a value that may not leave the host is `(redacted)`."""
    argv_digest: Digest
    """Of its program and arguments."""
    mounts: tuple[Mount, ...] = ()
    restart: str = "no"
    """`no`, `on-failure`, `always` or `unless-stopped`: whether it is there after a boot."""
    restart_most: int = 0
    """How often `on-failure` tries; 0 is without end."""
    network: str
    memory_limit_bytes: int | None = None
    state: str
    """`running`, `exited`, `restarting`, `created`, `paused`, `removing` or `dead`."""
    pid: Annotated[int | None, VOLATILE] = None
    """Of its first process; None where it does not run."""
    started_at: Annotated[str, VOLATILE]
    exit_code: Annotated[int, VOLATILE] = 0
    oom_killed: bool = False
    health: Annotated[str | None, VOLATILE] = None
    """`healthy`, `unhealthy` or `starting`; None where it has no check."""
    restarts: Annotated[int, VOLATILE] = 0

    @property
    def is_ours(self) -> bool:
        """Did a run of ours make it?"""
        return any(name.startswith(OWN_LABELS) for name in self.labels)

    @property
    def survives_boot(self) -> bool:
        """Does Docker start it again after a boot?"""
        return self.restart in ("always", "unless-stopped", "on-failure")

    def is_of(self, digest: str) -> bool:
        """Was it made of the image with this digest, that of its configuration or of its manifest in a registry?"""
        return self.image_id == digest or any(each.endswith(f"@{digest}") for each in self.repo_digests)


class Containers(Record):
    """Every container of a host, by name."""

    engine: Literal["docker"] = "docker"
    containers: tuple[Container, ...] = ()

    def container(self, of: str | None) -> Container | None:
        """The container with that id or name; None where there is none."""
        return next((each for each in self.containers if of in (each.id, each.name)), None)


def parse_containers(text: str) -> Containers:
    """From the JSON of a look; raises ValueError where it could not look."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    read = (Container.model_validate(each) for each in found["containers"])
    return Containers(containers=tuple(sorted(read, key=lambda container: container.name)))
