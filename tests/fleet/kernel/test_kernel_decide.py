"""What a kernel policy makes due: each plan exactly, and after it nothing."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import group_data.ring
import group_data.switch8
from fleet.approval import unapproved
from fleet.kernel.decide import KERNEL_PARTS, kernel_steps
from fleet.kernel.defaults import FILE
from fleet.kernel.dropins import DEFAULT_PATH, DEFAULT_TEXT, WORDS_PATH
from fleet.kernel.next import default_release
from fleet.kernel.policy import KernelPolicy
from fleet.kernel.steps import HoldPackages, InstallKernel, MakeInitramfs, SetNextBoot, SetWords
from fleet.kernel.words import LINE_BYTES
from fleet.observation import known
from fleet.plan import Plan, Refusals
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.step import Step
from fleet.target import Scope
from tests.fleet.kernel.host import NEW_VERSION, OLD_VERSION, PLAIN, PlayedHost, packages_of
from tests.fleet.kernel.menus import NEW, OLD, UUID, selector
from tests.fleet.observed import plan_of

RING = Roster.read(group_data.ring.roster, "group_data/ring.py")
SWITCH8 = Roster.read(group_data.switch8.roster, "group_data/switch8.py")
META = "linux-nvidia-hwe-24.04"
OTHER = "6.17.0-1032-nvidia"


def planned(roster: Roster, host: PlayedHost) -> Plan | Refusals:
    return plan_of(roster, {host.name: host.seen()}, Scope.KERNEL)


def steps(roster: Roster, host: PlayedHost) -> tuple[Step, ...]:
    found = planned(roster, host)
    assert isinstance(found, Plan), found
    return found.steps


def refused(roster: Roster, host: PlayedHost) -> dict[str, Refusal]:
    found = planned(roster, host)
    assert isinstance(found, Refusals)
    return {each.code: each for each in found.refusals}


def converge(roster: Roster, host: PlayedHost) -> None:
    """As a run does it: each operation decides again, and carries out what was approved and nothing else."""
    approved, done = steps(roster, host), set[str]()
    desired = roster.desired_for(host.name)
    for part in KERNEL_PARTS:
        for step in kernel_steps(part, desired, host.seen()):
            assert isinstance(step, Step)
            assert unapproved(approved, step, frozenset(done)) is None
            host.carry_out(step)
            done.add(step.kind)
    assert steps(roster, host) == ()


def ring_host(**values: object) -> PlayedHost:
    return PlayedHost(name="dgx1", **values)  # type: ignore[arg-type]


def one(policy: KernelPolicy) -> Roster:
    roster: Roster = RING.replaced(kernels={"nvidia-64k": policy})
    return roster


def test_the_ring_comes_to_its_64k_kernel_without_kho() -> None:
    host = ring_host(packages=packages_of(OLD, OLD_VERSION) | {META: OLD_VERSION}, pulls={META: (OLD,)})
    words, boot, install, hold = steps(RING, host)
    assert isinstance(install, InstallKernel)
    assert install.packages == packages_of(NEW, NEW_VERSION)
    assert install.downgrades == ()
    assert hold == HoldPackages(
        subject="dgx1 held packages", before=f"{META} not held", after=f"{META} held",
        reason="an upgrade, attended or not, would move the kernel", packages=(META,),
    )  # fmt: skip
    assert isinstance(words, SetWords)
    assert (words.path, words.cuts) == (WORDS_PATH, ())
    assert words.text is not None
    assert words.text.endswith('GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT kho=off"\n')
    assert isinstance(boot, SetNextBoot)
    assert (boot.selector, boot.path, boot.text) == (selector(OLD), DEFAULT_PATH, DEFAULT_TEXT)
    found = planned(RING, host)
    assert isinstance(found, Plan)
    assert set(found.hosts[0].notes) == {
        f"dgx1 runs {OLD}; {NEW} has not been tried here: sparks kernel trial dgx1",
        "dgx1 runs without kho=off; it takes effect at the next boot",
    }
    converge(RING, host)
    boots = known(host.seen().boot)
    assert (boots.next.release, boots.next.is_pinned, boots.default_once_made.release) == (OLD, True, OLD)
    assert host.files[FILE] == PLAIN
    assert set(host.releases) == {NEW, OLD}


def test_a_kernel_becomes_the_default_once_it_runs() -> None:
    """It was booted as a one-shot; what a trial leaves to do is this step alone, and then every boot starts it."""
    host = ring_host()
    converge(RING, host)
    host.running, host.running_line = NEW, "quiet splash kho=off"
    (boot,) = steps(RING, host)
    assert isinstance(boot, SetNextBoot)
    assert (boot.kind, boot.selector, boot.text, boot.remake) == ("next_boot", selector(NEW), None, False)
    converge(RING, host)
    host.running = OLD
    assert steps(RING, host) == ()
    found = planned(RING, host)
    assert isinstance(found, Plan)
    assert f"dgx1 runs {OLD}; {NEW} takes effect at the next boot" in found.hosts[0].notes


def test_without_a_fallback_the_kernel_is_chosen_once_it_is_there() -> None:
    policy = RING.kernels["nvidia-64k"].replaced(fallback=None)
    host = ring_host()
    assert isinstance(steps(one(policy), host)[-1], SetNextBoot)
    converge(one(policy), host)
    assert known(host.seen().boot).default.release == NEW


def test_a_saved_entry_of_a_kernel_that_was_removed_starts_it_not_when_it_comes_back() -> None:
    host = ring_host(files={FILE: "GRUB_DEFAULT=saved\n"}, environment={"saved_entry": selector(NEW)})
    converge(RING, host)
    assert known(host.seen().boot).default.release == OLD


def test_an_entry_that_comes_first_by_itself_is_not_chosen() -> None:
    """GRUB_DEFAULT=0: once the new kernel is installed it is entry 0, and the very next boot would start it untried."""
    host = ring_host(packages=packages_of(OLD, OLD_VERSION) | packages_of(NEW, NEW_VERSION))
    assert known(host.seen().boot).next.release == NEW
    converge(RING, host)
    assert known(host.seen().boot).next.release == OLD


def test_the_eight_stay_where_they_are() -> None:
    host = PlayedHost(name="dgx8", packages=packages_of(OLD, OLD_VERSION))
    hold, boot = steps(SWITCH8, host)
    assert isinstance(hold, HoldPackages)
    assert set(hold.packages) == set(packages_of(OLD, OLD_VERSION))
    assert isinstance(boot, SetNextBoot)
    assert boot.selector == selector(OLD)
    converge(SWITCH8, host)
    host.packages |= packages_of(OTHER, "6.17.0-1032.32")
    host.update_grub()
    found = planned(SWITCH8, host)
    assert isinstance(found, Plan)
    assert found.steps == ()
    assert found.hosts[0].notes == (f"dgx8 has {OTHER} too, newer than the pinned {OLD}; it is left alone",)
    assert known(host.seen().boot).next.release == OLD


def test_a_host_as_desired_needs_nothing_and_a_host_of_nobody_neither() -> None:
    host = ring_host(running=NEW, running_line="quiet kho=off")
    converge(RING, host)
    found = planned(RING, host)
    assert isinstance(found, Plan)
    assert found.hosts[0].notes == ()
    assert set(KERNEL_PARTS) <= set(found.hosts[0].considered)
    free = RING.replaced(sparks={name: each.replaced(kernel=None) for name, each in RING.sparks.items()})
    assert steps(free, ring_host()) == ()


def test_a_default_that_somebody_pinned_is_left_as_it_is() -> None:
    text = f'GRUB_DEFAULT="{selector(OLD)}"\n'
    host = PlayedHost(name="dgx1", files={FILE: text}, held=set(packages_of(OLD, OLD_VERSION)))
    assert steps(SWITCH8, host) == ()


@pytest.mark.parametrize(
    "text",
    [
        "GRUB_DEFAULT=saved\nGRUB_SAVEDEFAULT=true\n",
        'GRUB_DEFAULT="1>0"\n',
        "",
        f"GRUB_DEFAULT=gnulinux-simple-{UUID}\n",
    ],
)
def test_a_default_that_something_moves_is_pinned(text: str) -> None:
    host = PlayedHost(
        name="dgx1",
        files={FILE: text},
        held=set(packages_of(OLD, OLD_VERSION)),
        environment={"saved_entry": selector(OLD)},
    )
    (boot,) = steps(SWITCH8, host)
    assert isinstance(boot, SetNextBoot)
    assert (boot.selector, boot.text) == (selector(OLD), DEFAULT_TEXT)
    converge(SWITCH8, host)


def test_a_file_that_is_right_only_until_the_menu_is_made_anew_is_due() -> None:
    """GRUB_DEFAULT=0 was written after the last update-grub: the next upgrade of anything would unpin the kernel."""
    host = PlayedHost(name="dgx1", held=set(packages_of(OLD, OLD_VERSION)), environment={"saved_entry": selector(OLD)})
    host.files[FILE] = "GRUB_DEFAULT=saved\n"
    host.update_grub()
    assert steps(SWITCH8, host) == ()
    host.files[FILE] = "GRUB_DEFAULT=0\n"
    (boot,) = steps(SWITCH8, host)
    assert isinstance(boot, SetNextBoot)
    converge(SWITCH8, host)


def test_words_go_where_they_stand_and_odd_quoting_stays() -> None:
    odd = "GRUB_CMDLINE_LINUX='a=\"b c\"' # kho=on\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\\\n  kho=on  splash\"' x=1'\n"
    host = ring_host(files={FILE: odd})
    words = next(each for each in steps(RING, host) if isinstance(each, SetWords))
    assert [each.path for each in words.cuts] == [FILE]
    converge(RING, host)
    assert host.files[FILE] == odd.replace(" kho=on  splash", "  splash")


def test_a_later_value_of_the_same_parameter_is_overruled() -> None:
    policy = KernelPolicy.from_canonical(
        RING.kernels["nvidia-64k"].replaced(command_line={"add": ("kho=off",)}).canonical
    )
    host = ring_host(files={FILE: 'GRUB_CMDLINE_LINUX_DEFAULT="kho=off kho=1"\n'})
    assert any(isinstance(each, SetWords) for each in steps(one(policy), host))
    converge(one(policy), host)
    kept = ring_host(files={FILE: 'GRUB_CMDLINE_LINUX_DEFAULT="kho=off"\n'})
    assert not any(isinstance(each, SetWords) for each in steps(one(policy), kept))


def test_what_is_no_word_of_a_plain_file_is_refused() -> None:
    found = refused(RING, ring_host(files={FILE: "GRUB_CMDLINE_LINUX_DEFAULT=\"kho\"'=on'\n"}))
    assert "kho=on" in found["word_not_removable"].expected
    host = ring_host(packages=packages_of(OLD, OLD_VERSION) | packages_of(NEW, NEW_VERSION))
    host.files[FILE] = 'GRUB_CMDLINE_LINUX_DEFAULT="kho=on"\n'
    host.update_grub()
    host.files[FILE] = 'GRUB_CMDLINE_LINUX_DEFAULT="$(cat /x)"\n'
    assert "word_not_removable" in refused(RING, host)


def test_a_file_that_is_read_after_ours_is_named() -> None:
    host = ring_host()
    converge(RING, host)
    host.files["/etc/default/grub.d/zzz.cfg"] = 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n'
    found = planned(RING, host)
    assert isinstance(found, Refusals)
    assert [each.code for each in found.refusals] == ["grub_overridden", "grub_overridden"]
    assert all("zzz.cfg" in each.found for each in found.refusals)


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("GRUB_DEFAULT=7", {"GRUB_DEFAULT"}),
        ("GRUB_DEFAULT=$(cat /x)", {"GRUB_DEFAULT"}),
        ("GRUB_SAVEDEFAULT=true", {"GRUB_SAVEDEFAULT"}),
        ("GRUB_DEFAULT=0\nGRUB_SAVEDEFAULT=true", {"GRUB_DEFAULT", "GRUB_SAVEDEFAULT"}),
        ("GRUB_DEFAULT=saved\nGRUB_SAVEDEFAULT=false", set()),
        (f"GRUB_DEFAULT='{selector(OLD)}'", set()),
    ],
)
@pytest.mark.parametrize("is_ours_there", [False, True])
def test_what_would_be_read_after_our_file_is_named_before_anything_is_written(
    text: str, variables: set[str], is_ours_there: bool
) -> None:
    """A menu that is made anew in spite of it starts what that file says."""
    host = ring_host(files={DEFAULT_PATH: DEFAULT_TEXT} if is_ours_there else {})
    host.files["/etc/default/grub.d/zzz.cfg"] = f"{text}\n"
    found = planned(RING, host)
    told = found.refusals if isinstance(found, Refusals) else ()
    assert {each.expected.rpartition(" ")[2] for each in told if each.code == "grub_overridden"} == variables
    if not variables:
        converge(RING, host)


def test_a_pending_one_shot_is_cleared_unless_it_may_be_there() -> None:
    host = ring_host()
    converge(RING, host)
    host.environment["next_entry"] = selector(OLD)
    (boot,) = steps(RING, host)
    assert isinstance(boot, SetNextBoot)
    assert (boot.selector, boot.text, boot.clear_one_shot, boot.remake) == (selector(OLD), None, True, False)
    allowed = one(RING.kernels["nvidia-64k"].replaced(one_shot=True))
    assert steps(allowed, host) == ()
    converge(RING, host)


def test_an_initramfs_that_is_missing_is_made_and_comes_into_the_menu() -> None:
    host = ring_host()
    converge(RING, host)
    host.no_initramfs.add(OLD)
    host.update_grub()
    (made,) = steps(RING, host)
    assert isinstance(made, MakeInitramfs)
    assert made.release == OLD
    converge(RING, host)


def test_only_what_is_too_new_goes_back() -> None:
    later = {f"linux-tools-{NEW}": "7.0.0-1020.1", f"linux-image-{NEW}": "7.0.0-1018.1"}
    host = ring_host(packages=packages_of(OLD, OLD_VERSION) | packages_of(NEW, NEW_VERSION) | later)
    install = next(each for each in steps(RING, host) if isinstance(each, InstallKernel))
    assert install.packages == dict.fromkeys(sorted(later), NEW_VERSION)
    assert install.downgrades == (f"linux-tools-{NEW}",)


def test_a_command_line_that_is_longer_than_the_kernel_takes_is_refused_to_the_byte() -> None:
    def host(letters: int) -> PlayedHost:
        return ring_host(files={FILE: PLAIN.replace("quiet", "a=" + "x" * letters)})

    over = int(refused(RING, host(2000))["kernel_line_too_long"].found) - LINE_BYTES
    assert any(isinstance(each, SetWords) for each in steps(RING, host(2000 - over)))
    no = refused(RING, host(2001 - over))["kernel_line_too_long"]
    assert (no.subject, no.found) == ("dgx1 kernel command line", "2048")
    assert "at most 2047 bytes" in no.expected
    assert "COMMAND_LINE_SIZE" in no.expected


def test_what_stands_in_the_way() -> None:
    alone = packages_of(NEW, NEW_VERSION)
    assert "fallback_missing" in refused(RING, ring_host(packages=alone, running=NEW))
    assert "crash_kernel_kept" in refused(RING, ring_host(crash_bytes=268435456))
    host = ring_host()
    host.menu = host.menu.replace("$menuentry_id_option", "--class x --other")
    assert "menu_without_ids" in refused(RING, host)
    seen = ring_host().seen()
    broken = known(seen.packages).packages[0].replaced(status="half-configured")
    found = plan_of(RING, {"dgx1": seen.replaced(packages={"packages": (broken,)})}, Scope.KERNEL)
    assert isinstance(found, Refusals)
    assert "dpkg_unfinished" in {each.code for each in found.refusals}
    empty = plan_of(RING, {"dgx1": seen.replaced(boot={"reason": "no grub"})}, Scope.KERNEL)
    assert isinstance(empty, Refusals)
    assert {each.code for each in empty.refusals} == {"unobserved"}


def test_a_release_without_its_files_is_refused_where_its_package_is_there() -> None:
    seen = ring_host(packages=packages_of(OLD, OLD_VERSION) | packages_of(NEW, NEW_VERSION)).seen()
    gone = known(seen.kernels).replaced(
        kernels=tuple(each for each in known(seen.kernels).kernels if each.release == OLD)
    )
    found = plan_of(RING, {"dgx1": seen.replaced(kernels=gone)}, Scope.KERNEL)
    assert isinstance(found, Refusals)
    assert {each.code for each in found.refusals} == {"kernel_incomplete", "kernel_missing"}


def test_other_scopes_are_not_about_the_kernel() -> None:
    """What serves is never told to change its kernel, and its plans do not move with a policy."""
    seen = {"dgx1": ring_host().seen()}
    with_policy = plan_of(RING, seen, Scope.FABRIC)
    without_any = RING.replaced(
        kernels={}, sparks={name: each.replaced(kernel=None) for name, each in RING.sparks.items()}
    )
    assert isinstance(with_policy, Plan)
    again = plan_of(without_any, seen, Scope.FABRIC)
    assert isinstance(again, Plan)
    assert with_policy.digest == again.digest
    assert not any("kernel" in each.kind for each in with_policy.steps)


WORDS = st.sampled_from(["quiet", "splash", "kho=on", "kho=off", "kho=1", 'a="b kho=on"', "console=tty0", "kho"])
FILES = st.builds(
    lambda default, words, quote: f"# x\n{default}GRUB_CMDLINE_LINUX_DEFAULT={quote}{'  '.join(words)}{quote}\n",
    st.sampled_from(["", "GRUB_DEFAULT=0\n", "GRUB_DEFAULT=saved\n", "GRUB_DEFAULT=saved\nGRUB_SAVEDEFAULT=true\n",
                     f"GRUB_DEFAULT='{selector(NEW)}'\n"]),
    st.lists(WORDS, max_size=4).map(lambda words: [word.replace('"', "") if '"' in word else word for word in words]),
    st.sampled_from(["'", '"']),
)  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    FILES,
    st.none() | st.sampled_from([selector(OLD), selector(NEW), selector(OTHER), "1>2", "0", "gone"]),
    st.none() | st.sampled_from([selector(OLD), "1"]),
    st.sets(st.sampled_from([*packages_of(NEW, ""), *packages_of(OTHER, "")])),
    st.booleans(),
    st.sampled_from([OLD, NEW]),
)
@example("GRUB_DEFAULT=saved\nGRUB_CMDLINE_LINUX_DEFAULT=''\n", selector(NEW), None, {f"linux-image-{NEW}"}, True, OLD)
def test_from_anywhere_a_run_ends_as_desired(
    text: str, saved: str | None, pending: str | None, installed: set[str], is_stale: bool, running: str
) -> None:
    """Whatever is installed, saved, pending and written: either it is refused, or after the plan nothing is due, every
    boot starts a kernel that is known to work, with the words, and what was there is still there."""
    environment = {"saved_entry": saved, "next_entry": pending}
    host = ring_host(
        packages=packages_of(OLD, OLD_VERSION) | dict.fromkeys(installed, NEW_VERSION), files={FILE: text},
        environment={name: each for name, each in environment.items() if each}, running=running,
    )  # fmt: skip
    if is_stale:
        host.files[FILE] = text.replace("quiet", "noisy").replace("saved", "0")
    before = dict(host.packages)
    if isinstance(planned(RING, host), Refusals):
        return
    converge(RING, host)
    boots = known(host.seen().boot)
    for found in (boots.next, boots.default, boots.default_once_made):
        assert (found.release, found.is_pinned) == (default_release(RING.kernels["nvidia-64k"], host.seen()), True)
    assert boots.next.release == NEW or running == OLD
    assert boots.next.entry is not None
    assert [each.value for each in boots.next.entry.parameters if each.name == "kho"][-1] == "off"
    assert before.keys() <= host.packages.keys()
