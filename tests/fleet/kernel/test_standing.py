"""What a trial rests on is read from the menu by ids, and only for kernels that are there."""

from fleet.kernel.boot import Boot
from fleet.kernel.defaults import GrubDefaults
from fleet.kernel.files import InstalledKernels, KernelFiles
from fleet.kernel.grub_cfg import parse_grub_cfg
from fleet.kernel.grubenv import GrubEnvironment
from fleet.kernel.running import Kernel, parse_command_line
from fleet.kernel.standing import standing
from fleet.kernel.trial import Standing
from fleet.observation import Observation
from tests.fleet.kernel.menus import NEW, OLD, grub_cfg, selector

KERNEL = Kernel(
    release=OLD, page_size_bytes=4096, command_line=parse_command_line("ro"), boot_id="one", uptime_seconds=9
)
WHOLE = {"has_image": True, "initrd_bytes": 1, "has_modules": True}


def seen(saved: str = selector(OLD), **pending: str) -> Observation:
    environment = GrubEnvironment(values={"saved_entry": saved, **pending})
    kernels = (KernelFiles(release=OLD, **WHOLE), KernelFiles(release=NEW, **WHOLE | {"initrd_bytes": 0}))
    return Observation(
        host="srv5",
        kernel=KERNEL,
        kernels=InstalledKernels(kernels=kernels),
        boot=Boot(
            menu=parse_grub_cfg(grub_cfg(NEW, OLD)),
            environment=environment,
            defaults=GrubDefaults(files=(), texts={}, lines={}),
        ),
    )


def test_each_installed_kernel_is_chosen_by_its_ids() -> None:
    found = standing(seen())
    assert isinstance(found, Standing)
    assert [(each.release, each.selector, each.missing) for each in found.entries] == [
        (OLD, selector(OLD), ""), (NEW, selector(NEW), "initramfs"),
    ]  # fmt: skip
    assert {"quiet", "splash"} < set(found.entries[0].parameters)
    assert (found.running, found.default, found.is_pinned, found.one_shot) == (OLD, OLD, True, None)


def test_a_default_that_matches_nothing_is_the_first_entry_and_not_pinned() -> None:
    found = standing(seen("gnulinux-gone"))
    assert isinstance(found, Standing)
    assert (found.default, found.is_pinned) == (NEW, False)


def test_what_is_pending_is_no_default() -> None:
    found = standing(seen(next_entry=selector(NEW)))
    assert isinstance(found, Standing)
    assert (found.default, found.one_shot) == (OLD, selector(NEW))


def test_what_could_not_be_observed_is_said_of_each_section() -> None:
    found = standing(Observation(host="srv5", kernel=KERNEL))
    assert isinstance(found, tuple)
    assert [each.subject for each in found] == ["srv5 kernels", "srv5 boot"]
