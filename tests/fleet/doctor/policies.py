"""A kernel and a host policy that ask about all that one can ask about."""

from fleet.host.policy import HostPolicy
from fleet.kernel.policy import CommandLineWords, KernelPolicy

PINNED, FALLBACK = "7.0.0-1019-nvidia-64k", "6.17.0-1031-nvidia"
KERNEL = KernelPolicy(
    release=PINNED,
    packages={f"linux-image-{PINNED}": "7.0.0-1019.19~24.04.2", f"linux-modules-{PINNED}": "7.0.0-1019.19~24.04.2"},
    metas=("linux-nvidia-64k-hwe-24.04",),
    fallback=FALLBACK,
    command_line=CommandLineWords(add=("kho=off",)),
    kho="off",
)
HOST = HostPolicy.model_validate_json("""{
    "sysctls": {"vm.watermark_boost_factor": 0},
    "huge_pages": {"enabled": "never"},
    "governor": "performance",
    "units": {"ssh.service": "enabled", "gdm.service": "masked"},
    "default_target": "multi-user.target",
    "oom_protected": ["ssh.service"],
    "time_sync": "timesyncd",
    "swap": {"size_gib": 16},
    "watchdog": {"seconds": 60},
    "memory_guard": {"startup_gib": 5, "steady_gib": 3, "container": "vllm"},
    "remove_ipc": false,
    "linger": ["spark"],
    "modules": {"nvidia": {"NVreg_Quiet": 1}},
    "tmpfiles": [{"path": "/sys/block/nvme0n1/queue/scheduler", "value": "none"}],
    "held": ["nvidia-driver-580-open"],
    "mounts": {"/mnt/models": {"source": "nas:/volume1/models"}}
}""")
