"""A trial begins only where a power cycle returns to the fallback, and every way it can go ends with that said."""

import pytest

from fleet.kernel.policy import KernelPolicy
from fleet.kernel.trial import FOLLOWS, Entry, First, Happening, Phase, Standing, begins, happened, stands
from fleet.refusal import Refusal

OLD, NEW = "6.17.0-1031-nvidia", "7.0.0-1019-nvidia-64k"
POLICY = KernelPolicy(release=NEW, packages={f"linux-image-{NEW}": "7.0.0-1019.19~24.04.2"}, fallback=OLD)


def entry(release: str, missing: str = "") -> Entry:
    return Entry(release=release, selector=f"gnulinux-advanced-1>gnulinux-{release}-advanced-1", parameters=("quiet",),
                 missing=missing)  # fmt: skip


READY = Standing(
    host="srv5",
    running=OLD,
    boot_id="one",
    default=OLD,
    is_pinned=True,
    one_shot=None,
    entries=(entry(NEW), entry(OLD)),
)
"""A Spark that a trial may begin on."""


def codes(policy: KernelPolicy | None, seen: Standing) -> list[str]:
    found = begins(policy, seen)
    assert isinstance(found, tuple)
    assert not isinstance(found, First)
    return [each.code for each in found]


def test_a_trial_begins_with_draining_from_the_fallback() -> None:
    assert begins(POLICY, READY) == First(Phase.DRAIN, entry(NEW))


def test_there_is_nothing_to_try_where_the_kernel_runs_as_the_default() -> None:
    assert begins(POLICY, READY.replaced(running=NEW, default=NEW)) is None


def test_a_trial_that_was_cut_off_behind_its_boot_goes_on_there() -> None:
    assert begins(POLICY, READY.replaced(running=NEW)) == First(Phase.QUALIFY, entry(NEW))


@pytest.mark.parametrize(
    ("policy", "changes", "expected"),
    [
        (None, {}, ["trial_without_policy"]),
        (POLICY.replaced(fallback=None), {}, ["trial_without_fallback"]),
        (POLICY, {"entries": (entry(OLD),)}, ["kernel_not_in_menu"]),
        (POLICY, {"entries": (entry(NEW),)}, ["kernel_not_in_menu"]),
        (POLICY, {"entries": (entry(NEW, "initramfs"), entry(OLD))}, ["kernel_not_whole"]),
        (POLICY, {"entries": (entry(NEW), entry(OLD, "initramfs, modules"))}, ["kernel_not_whole"]),
        (POLICY, {"one_shot": "1>2"}, ["one_shot_pending"]),
        (POLICY, {"default": NEW}, ["default_not_fallback"]),
        (POLICY, {"default": None}, ["default_not_fallback"]),
        (POLICY, {"is_pinned": False}, ["default_not_fallback"]),
        (POLICY, {"running": NEW, "default": NEW, "is_pinned": False}, ["default_not_fallback"]),
        (
            POLICY,
            {"entries": (), "one_shot": "0", "default": None},
            ["kernel_not_in_menu", "kernel_not_in_menu", "one_shot_pending", "default_not_fallback"],
        ),
    ],
)
def test_a_trial_does_not_begin(policy: KernelPolicy | None, changes: dict[str, object], expected: list[str]) -> None:
    """Every reason at once: nobody comes back three times for three of them."""
    assert codes(policy, READY.replaced(**changes)) == expected


def test_a_refusal_names_what_is_missing() -> None:
    found = begins(POLICY, READY.replaced(entries=(entry(NEW), entry(OLD, "initramfs"))))
    assert isinstance(found, tuple)
    assert not isinstance(found, First)
    (refusal,) = found
    assert isinstance(refusal, Refusal)
    assert str(refusal).startswith(
        f"srv5 kernel: expected image, initramfs and modules of {OLD}, found it without initramfs [kernel_not_whole]"
    )


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (None, Happening.SILENT),
        (READY, Happening.FAILED),
        (READY.replaced(boot_id="two", running=NEW), Happening.CAME_WITH_TRIAL),
        (READY.replaced(boot_id="two"), Happening.CAME_WITH_OTHER),
    ],
)
def test_how_a_boot_ended_is_told_by_what_runs_and_the_boot_id(seen: Standing | None, expected: Happening) -> None:
    assert happened(POLICY, "one", seen) is expected


def test_every_phase_but_an_end_is_followed_by_another() -> None:
    going_on = {phase for phase, _ in FOLLOWS}
    assert going_on == {phase for phase in Phase if not phase.is_end}


def test_no_way_makes_a_default_of_a_kernel_that_has_not_qualified() -> None:
    """And every way comes to an end."""
    before = {phase: {one for (one, how), next_phase in FOLLOWS.items() if next_phase is phase} for phase in Phase}
    assert before[Phase.PERSISTED] == {Phase.PERSIST}
    assert before[Phase.PERSIST] == {Phase.QUALIFY}
    assert FOLLOWS[Phase.QUALIFY, Happening.DONE] is Phase.PERSIST
    assert FOLLOWS[Phase.QUALIFY, Happening.FAILED] is Phase.RETURN
    reached = {Phase.DRAIN}
    for _ in Phase:
        reached |= {to for (one, _), to in FOLLOWS.items() if one in reached}
    assert {phase for phase in Phase if phase.is_end} <= reached


def test_nothing_is_booted_where_draining_failed() -> None:
    assert FOLLOWS[Phase.DRAIN, Happening.FAILED] is Phase.KEPT


@pytest.mark.parametrize("phase", Phase)
def test_where_it_stands_is_said_of_every_phase(phase: Phase) -> None:
    said = stands(phase, "srv5", POLICY)
    assert said.startswith("srv5: ")
    assert "{" not in said


@pytest.mark.parametrize("phase", [Phase.BOOT, Phase.QUALIFY, Phase.LOST, Phase.TRIED])
def test_whoever_stops_is_told_that_a_power_cycle_returns(phase: Phase) -> None:
    said = stands(phase, "srv5", POLICY)
    assert OLD in said
    assert "power" in said
