"""The containers of a host, by Docker's own API."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.containers import LABELS, SOCKET, VISIBLE, parse_containers
from fleet.containers import Containers as FoundContainers
from fleet.ollama.settings import REDACTED


class Containers(Look[FoundContainers]):
    """
    Every container, running or not; ``None`` when they were not observed: also where Docker is not installed, does not
    run, or may not be asked.

    A daemon that waits for its first client is not started by this look. Values of labels and variables that are not
    known to be harmless stay on the host.

    .. code:: python

        Containers(
            engine="docker",
            containers=(
                Container(
                    name="vllm", id="3f1c…", image="vllm/vllm-openai:v0.11.0", image_id="sha256:…",
                    repo_digests=("vllm/vllm-openai@sha256:…",), restart="unless-stopped", state="running", pid=4121,
                    environment={"NCCL_IB_HCA": "=rocep1s0f0", "HF_TOKEN": "(redacted)"}, …
                ),
            ),
        )
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self, path: str = SOCKET, seconds: float = 20) -> str:
        known = {"labels": LABELS, "visible": sorted(VISIBLE), "redacted": REDACTED}
        return as_root(remote_python("docker_containers", path=path, seconds=seconds, **known))

    @override
    def parse(self, text: str) -> FoundContainers:
        return parse_containers(text)
