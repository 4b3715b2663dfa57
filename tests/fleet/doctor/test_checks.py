"""Each check of the fabric and of what serves speaks where it should; on a Spark that is well all are silent."""

from collections.abc import Callable
from typing import Any

import pytest

from fleet.containers import Containers
from fleet.doctor.check import Host
from fleet.doctor.checks_engines import ENGINES
from fleet.doctor.checks_fabric import FABRIC
from fleet.doctor.checks_residency import RESIDENCY
from fleet.doctor.checks_serving import SERVING
from fleet.doctor.examine import examine
from fleet.doctor.finding import Finding
from fleet.doctor.registry import CHECKS
from fleet.gpu import GpuAnswer, GpuState
from fleet.llamacpp import LlamaCpp
from fleet.lock import LockState, Taker
from fleet.neighbour import Neighbour
from fleet.observation import known
from fleet.record import Unobserved
from fleet.vllm import VllmModels, VllmServer
from fleet.vllm_metrics import EngineMetrics, VllmMetrics
from tests.fleet import observed
from tests.fleet.doctor.hosts import (
    DESIRED,
    SERVE,
    SILENT,
    devices,
    gpu,
    host,
    idle,
    processes,
    running,
    settings,
    well,
)
from tests.fleet.ollama.host import PROCESS, stamped
from tests.fleet.shapes import sites
from tests.fleet.test_ledger import CONTAINER, GIB, apps, memory
from tests.fleet.test_lock import HELD
from tests.fleet.test_processes import process

ENGINE = process(30, "engine", comm="VLLM::EngineCor", memory=memory(6 * GIB))
NOTEBOOK = apps(pid99=12 * GIB)


def index(place: int) -> Host:
    """The first rail's GID at another index than that of the second."""
    first, *others = known(well().roce_gids)
    return host(roce_gids=(first.replaced(index=place), *others))


def rpc(*listens: str) -> Host:
    return host(llamacpp=LlamaCpp(rpc=(process(40, "rpc", runtime="llama.cpp", comm="rpc-server", listens=listens),)))


def vllm(healthy: bool = True, accepted: int = 9000) -> Host:
    metrics = VllmMetrics(engines=(EngineMetrics(engine="0", drafted_tokens=20_000, accepted_tokens=accepted),))
    server = VllmServer(endpoint="http://127.0.0.1:8000", pid=20, healthy=healthy, version="0.11.0", metrics=metrics,
                        models=VllmModels(models=()), sleeping=False)  # fmt: skip
    return host(vllm=(server,))


def contained(**changes: Any) -> Host:
    return host(containers=Containers(containers=(CONTAINER.replaced(**changes),)))


def no_gpu(answer: GpuAnswer, module: str | None = "580") -> Host:
    lost: Any = () if answer is GpuAnswer.NOT_INSTALLED else Unobserved(reason="it said nothing")
    return host(gpu=GpuState(answer=answer, module=module, gpus=lost, apps=lost))


def on_switch(**changes: int) -> Host:
    """A Spark whose two twins are on one switch."""
    desired = sites(3)["switch and pairs"].desired_for("dgx1")
    return Host(desired, well().replaced(host="dgx1", port_settings=settings(**changes)))


def silent_server() -> Host:
    lost = VllmServer(endpoint="http://127.0.0.1:8000", pid=20, healthy=SILENT, version=SILENT, metrics=SILENT,
                      models=SILENT, sleeping=SILENT)  # fmt: skip
    return host(vllm=(lost,))


HAND_MADE = observed.with_link(well(), observed.link("enp1s0f1np1", addresses=["10.9.9.9/24"]))

SPEAKS: tuple[tuple[str, Host, str], ...] = (
    ("fabric.lost_at_boot", Host(DESIRED, HAND_MADE), "10.9.9.9/24, mtu 1500 (hand-made (ip))"),
    ("fabric.link_speed", host(roce_devices=devices(rate=100.0)), "expected 200 Gb/s for rail 1 (a enp1s0f0np0"),
    ("fabric.path_mtu", host(roce_devices=devices(mtu=1024)), "an RDMA path MTU of 4096, found 1024"),
    ("fabric.gid_index", index(5), "5 on enp1s0f0np0, 3 on enP2p1s0f0np0"),
    (
        "fabric.device_name",
        host(roce_devices=devices(names={"enp1s0f0np0": "mlx5_0"})),
        "rocep1s0f0 above it, found ml",
    ),
    ("fabric.arp", host(port_settings=settings(arp_ignore=0)), "rp_filter 2, arp_ignore 0, arp_filter 0"),
    ("fabric.arp", on_switch(arp_ignore=0), "WARN fabric.arp"),
    ("serving.stamp", host(generation=stamped(PROCESS).replaced(begun=SILENT)), "a run that has not come to its end"),
    ("serving.process", host(invocation=running(invocation=None, models=())), "no process"),
    ("serving.process", host(invocation=running(other="pid 9 (ollama)")), "another one where clients reach it"),
    ("serving.unstamped", host(generation=stamped()), "pid 7 of ollama.service"),
    ("serving.roster_moved", host(generation=stamped(PROCESS)), "what it said at 2026-11-30 12:00:00 UTC"),
    ("serving.drained", host()._replace(drained=frozenset({PROCESS.digest})), "drained within the last hour"),
    (
        "serving.stale_lock",
        host(lock=LockState(held=HELD, boot_id=HELD.boot_id, holder_lives=False, taker=Taker.SAME_OWNER)),
        "its process 1234 on the host is gone",
    ),
    ("serving.replaced_program", host(processes=processes(process(50, exe_deleted=True))), "replaced since"),
    ("serving.stuck", host(processes=processes(process(50, state="D"))), "where no signal reaches it"),
    ("serving.stuck", host(processes=processes(process(50, state="Z"))), "ended, and not buried"),
    ("serving.container", contained(oom_killed=True), "it killed for memory"),
    ("serving.container", contained(health="unhealthy"), "found unhealthy"),
    ("serving.container", contained(state="restarting"), "found restarting"),
    ("serving.vllm", vllm(healthy=False), "expected /health 200, found 503"),
    ("serving.vllm", vllm(accepted=3), "found 3 of 20,000"),
    ("serving.rpc_open", rpc("0.0.0.0:50052"), "found 0.0.0.0:50052\n  start it with -H 10.1.1.1"),
    ("serving.rpc_open", rpc("[::]:50052"), "found [::]:50052"),
    ("serving.gpu", no_gpu(GpuAnswer.MISMATCH), "ERROR serving.gpu a GPU"),
    ("serving.gpu", no_gpu(GpuAnswer.NOT_INSTALLED, module=None), "WARN serving.gpu a GPU"),
    ("serving.gpu_clock", host(gpu=gpu(sm_clock_mhz=510)), "510 MHz at 90% use"),
    ("residency.orphan", host(processes=processes(ENGINE)), "pid 30 (VLLM::EngineCor) without one, with 6.0 GiB"),
    ("residency.unmanaged_ollama", idle(), "a ollama.service: expected no Ollama but the declared one, found one"),
    ("residency.unmanaged_ollama", host(processes=processes(SERVE.replaced(pid=8, unit="x.service"))), "x.service"),
    ("residency.stranger", host(gpu=NOTEBOOK), "found one in pid 99, 12.0 GiB on the GPU"),
    ("residency.unaccounted", host(processes=processes().replaced(others_anonymous_bytes=70 * GIB)), "found 17.0 GiB"),
    ("residency.no_answer", silent_server(), "a vllm at http://127.0.0.1:8000: expected an answer, found no answer in"),
    (
        "residency.swapped",
        host(processes=processes(process(50, memory=memory(GIB).replaced(swap_bytes=GIB)))),
        "1.00 GiB of pid 50",
    ),
)


def told(asked: Host, id: str) -> list[Finding]:
    return [each for each in examine(asked) if each.id == id]


@pytest.mark.parametrize(("id", "asked", "words"), SPEAKS, ids=[f"{each[0]}-{at}" for at, each in enumerate(SPEAKS)])
def test_it_speaks(id: str, asked: Host, words: str) -> None:
    found = told(asked, id)
    assert any(words in str(each) for each in found), [str(each) for each in examine(asked)]
    assert all(each.subject.startswith(asked.desired.name) for each in found)
    assert all(each.scope is CHECKS[id].scope for each in found)


CHECKS_OF_HERE = (*FABRIC, *SERVING, *ENGINES, *RESIDENCY)


def test_every_check_is_tried() -> None:
    assert {each.id for each in CHECKS_OF_HERE} == {id for id, _, _ in SPEAKS}


@pytest.mark.parametrize("check", CHECKS_OF_HERE, ids=lambda check: check.id)
def test_it_is_silent_on_a_spark_that_is_well(check: Any) -> None:
    assert not told(host(), check.id)


SILENT_WHERE: tuple[tuple[str, Host], ...] = (
    ("fabric.link_speed", host(roce_devices=tuple(each.replaced(pci=None) for each in devices(rate=2.5)))),
    ("fabric.arp", host(port_settings=settings(rp_filter=1, arp_ignore=0))),
    ("fabric.arp", on_switch(arp_ignore=1)),
    ("serving.gpu_clock", host(gpu=gpu(sm_clock_mhz=210, utilization_percent=3))),
    ("serving.gpu_clock", host(gpu=gpu(sm_clock_mhz=SILENT))),
    ("serving.rpc_open", rpc("10.1.1.1:50052", "127.0.0.1:50052", "[::1]:50052")),
    ("serving.vllm", vllm()),
    ("serving.process", idle(invocation=running(invocation=None, models=()))),
    ("residency.stranger", host(processes=processes(ENGINE))),
)


@pytest.mark.parametrize(("id", "asked"), SILENT_WHERE, ids=[f"{each[0]}-{at}" for at, each in enumerate(SILENT_WHERE)])
def test_it_is_silent_where_nothing_is_wrong(id: str, asked: Host) -> None:
    assert not told(asked, id)


@pytest.mark.parametrize(
    ("neighbour", "id", "make"),
    [
        (Neighbour(unit="ollama.service"), "residency.unmanaged_ollama", lambda: idle(generation=stamped())),
        (Neighbour(program="python3"), "residency.stranger", lambda: host(gpu=NOTEBOOK)),
    ],
)
def test_what_is_declared_as_somebody_elses_is_no_finding(
    neighbour: Neighbour, id: str, make: Callable[[], Host]
) -> None:
    asked = make()
    assert told(asked, id)
    spark = asked.desired.spark.replaced(neighbours=(neighbour,))
    assert not told(asked._replace(desired=asked.desired.replaced(spark=spark)), id)
