"""Checks of what may move a kernel by itself, and of the modules that the next one would load."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.observation import known


def _movers(asked: Host) -> Iterator[Found]:
    policy = asked.desired.kernel
    ours = () if policy is None else policy.held
    for package in known(asked.seen.packages).movers:
        if package.name not in ours:
            yield Found(f"{asked.seen.host} {package.name}", "it held, or declared as a meta",
                        f"{package.words}; it pulls {', '.join(package.pulls)}",
                        f"apt-mark hold {package.name} on the host, or put it into metas of the policy")  # fmt: skip


def _upgrades(asked: Host) -> Iterator[Found]:
    upgrades, packages = known(asked.seen.upgrades), known(asked.seen.packages)
    subject = f"{asked.seen.host} unattended upgrades"
    moved = [each.name for each in (*packages.images, *packages.movers)
             if not each.is_held and upgrades.moves(each.name)]  # fmt: skip
    if moved:
        yield Found(subject, "them to leave kernels alone", f"they may move {', '.join(dict.fromkeys(moved))}",
                    "hold them, or name them in Unattended-Upgrade::Package-Blacklist")  # fmt: skip
    if upgrades.is_active and upgrades.may_reboot:
        yield Found(subject, "no reboot by itself", "Unattended-Upgrade::Automatic-Reboot on",
                    'Unattended-Upgrade::Automatic-Reboot "false"; in /etc/apt/apt.conf.d')  # fmt: skip


def _reboot(asked: Host) -> Iterator[Found]:
    upgrades = known(asked.seen.upgrades)
    if upgrades.reboot_required:
        why = ", ".join(upgrades.reboot_packages[:5]) or "a package that does not say its name"
        yield Found(f"{asked.seen.host} reboot", "nothing that waits for one", why, "boot it when nobody is served")


def _next(asked: Host) -> str | None:
    return known(asked.seen.boot).next.release


def _dkms(asked: Host) -> Iterator[Found]:
    dkms, release = known(asked.seen.dkms), _next(asked)
    lacking = () if release is None else dkms.lacking(release)
    if lacking:
        names = ", ".join(lacking)
        yield Found(f"{asked.seen.host} DKMS", f"{names} built for {release}, which boots next", "not built",
                    f"dkms autoinstall -k {release} on the host; it needs the headers")  # fmt: skip


def _driver(asked: Host) -> Iterator[Found]:
    kernels, running, release = known(asked.seen.kernels), known(asked.seen.kernel).release, _next(asked)
    now = kernels.of(running).nvidia_version
    if release is None or now is None:
        return
    then = kernels.of(release).nvidia_version
    if then != now:
        found = "none" if then is None else then
        yield Found(f"{asked.seen.host} driver", f"{now}, as now, also for {release}, which boots next", found,
                    f"install its linux-modules-nvidia package, of {release}",
                    level=Level.ERROR if then is None else None)  # fmt: skip


def _unsigned(asked: Host) -> Iterator[Found]:
    secure, kernels, release = known(asked.seen.secure_boot), known(asked.seen.kernels), _next(asked)
    if release is None or (secure.state != "on" and secure.lockdown in (None, "none")):
        return
    files = kernels.of(release)
    if files.nvidia_version is not None and files.nvidia_signer is None:
        yield Found(f"{asked.seen.host} driver", f"a signed module for {release}, since Secure Boot is on", "no signer",
                    "install the signed linux-modules-nvidia package, or enrol the key of DKMS")  # fmt: skip


PACKAGES: tuple[HostCheck, ...] = (
    HostCheck(
        id="kernel.meta_moves",
        level=Level.WARN,
        looks_for="An installed meta package that follows the newest kernel, that nobody holds and no policy names.",
        why="The next `apt upgrade` brings another kernel and makes it the first of the menu.",
        fix="Hold it, or name it under `metas` of the kernel policy: a run then holds it.",
        find=_movers,
        sections=("packages",),
    ),
    HostCheck(
        id="kernel.unattended_upgrades",
        level=Level.WARN,
        looks_for="Unattended upgrades that may move a kernel that is not held, or that reboot by themselves.",
        why="It happens at night, and is found out at the next boot.",
        fix="Hold the packages, or forbid it in /etc/apt/apt.conf.d.",
        find=_upgrades,
        sections=("upgrades", "packages"),
    ),
    HostCheck(
        id="kernel.reboot_required",
        level=Level.INFO,
        looks_for="A package that waits for a boot (/run/reboot-required).",
        why="What runs is older than what is installed; the next boot, whoever causes it, changes it.",
        fix="Boot at a moment of your choice, and look then.",
        find=_reboot,
        sections=("upgrades",),
    ),
    HostCheck(
        id="kernel.dkms_missing",
        level=Level.WARN,
        looks_for="A DKMS module that some kernel has and the one that boots next has not.",
        why="After the boot its device is gone, or its fix is.",
        fix="Install the headers of that release, then `dkms autoinstall -k RELEASE`.",
        find=_dkms,
        sections=("dkms", "boot"),
    ),
    HostCheck(
        id="kernel.driver",
        level=Level.WARN,
        looks_for="The NVIDIA module of the kernel that boots next: at another version than now, or (an ERROR) none.",
        why="Without it there is no GPU after the boot; with another version, containers and libraries may not fit it.",
        fix="Install the linux-modules-nvidia package of that release, at the version that is meant.",
        find=_driver,
        sections=("kernels", "kernel", "boot"),
    ),
    HostCheck(
        id="kernel.unsigned_module",
        level=Level.ERROR,
        looks_for="An unsigned NVIDIA module for the kernel that boots next, under Secure Boot or lockdown.",
        why="The kernel refuses it: after the boot there is no GPU.",
        fix="Install the signed package, or enrol the key that DKMS signs with (`mokutil --import`).",
        find=_unsigned,
        sections=("secure_boot", "kernels", "boot"),
    ),
)
