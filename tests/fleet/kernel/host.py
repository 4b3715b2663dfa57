"""A host whose kernels are only told: what it looks like, and what carrying a step out does to it."""

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from facts.remote import grub as remote
from facts.remote import sh_values
from fleet.kernel.boot import parse_boot
from fleet.kernel.defaults import FILE, LINES, TEXTS
from fleet.kernel.files import InstalledKernels, KernelFiles
from fleet.kernel.grubenv import GrubEnvironment
from fleet.kernel.kho import Kho
from fleet.kernel.packages import Package, Packages
from fleet.kernel.running import Kernel, parse_command_line
from fleet.kernel.steps import HoldPackages, InstallKernel, MakeInitramfs, SetNextBoot, SetWords
from fleet.kernel.versions import release_order
from fleet.kernel.words import SECRET_PARAMETER
from fleet.observation import Observation, known
from fleet.step import Step
from tests.fleet.kernel.menus import NEW, OLD, grub_cfg
from tests.fleet.observed import blank

OLD_VERSION, NEW_VERSION = "6.17.0-1031.31", "7.0.0-1019.19~24.04.2"
PARTS = ("image", "modules", "headers", "tools", "modules-nvidia-580-open")
PLAIN = '# mine\nGRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\n'


def packages_of(release: str, version: str) -> dict[str, str]:
    return {f"linux-{part}-{release}": version for part in PARTS}


class Defaults(TypedDict):
    """What the program that reads /etc/default/grub on a host sends; None where it cannot be told without a shell."""

    texts: dict[str, str | None]
    lines: dict[str, list[dict[str, str]] | None]


@dataclass
class PlayedHost:
    """What is on its disk."""

    name: str = "a"
    running: str = OLD
    running_line: str = "quiet splash"
    packages: dict[str, str] = field(default_factory=lambda: packages_of(OLD, OLD_VERSION))
    held: set[str] = field(default_factory=set)
    pulls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    no_initramfs: set[str] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=lambda: {FILE: PLAIN})
    environment: dict[str, str] = field(default_factory=dict)
    crash_bytes: int = 0
    menu: str = ""

    def __post_init__(self) -> None:
        self.update_grub()

    @property
    def releases(self) -> list[str]:
        """From new to old, as GRUB lists them."""
        images = [name.removeprefix("linux-image-") for name in self.packages if name.startswith("linux-image-")]
        return sorted((each for each in images if each[0].isdigit()), key=release_order, reverse=True)

    def update_grub(self) -> None:
        defaults = self.defaults()
        texts, lines = defaults["texts"], defaults["lines"]
        default = texts.get("GRUB_DEFAULT") or "0"
        words = " ".join(word["text"] for name in LINES for word in lines.get(name) or ())
        default = "${saved_entry}" if default == "saved" else default
        made = grub_cfg(*self.releases, default=default, words=words, saves=texts.get("GRUB_SAVEDEFAULT") == "true")
        for release in self.no_initramfs:
            made = made.replace(f"\tinitrd\t/boot/initrd.img-{release}\n", "")
        self.menu = made

    def defaults(self) -> Defaults:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in self.files.items():
                place = Path(folder + path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
            variables = {"lines": list(LINES), "texts": list(TEXTS)}
            hidden = remote.Hidden(SECRET_PARAMETER)
            found: Defaults = remote.defaults(folder, variables, hidden, sh_values)
            return found

    def seen(self) -> Observation:
        block = "# GRUB Environment Block\n" + "".join(f"{name}={each}\n" for name, each in self.environment.items())
        looked = {"menu": self.menu, "environment": block, "defaults": self.defaults()}
        return blank(self.name).replaced(
            kernel=Kernel(
                release=self.running, page_size_bytes=65536 if self.running.endswith("-64k") else 4096,
                command_line=parse_command_line(self.running_line), boot_id="b", uptime_seconds=1.0,
            ),
            packages=Packages(packages=tuple(self._package(name) for name in sorted(self.packages))),
            kernels=InstalledKernels(kernels=tuple(map(self._kernel, reversed(self.releases)))),
            boot=parse_boot(json.dumps(looked)),
            kho=Kho(is_built_in=True, is_default=self.running == NEW, crash_bytes=self.crash_bytes),
        )  # fmt: skip

    def _package(self, name: str) -> Package:
        return Package(
            name=name, version=self.packages[name], architecture="arm64", status="installed",
            want="hold" if name in self.held else "install", pulls=self.pulls.get(name, ()),
        )  # fmt: skip

    def _kernel(self, release: str) -> KernelFiles:
        return KernelFiles(
            release=release, has_image=True, package=f"linux-image-{release}", has_modules=True,
            initrd_bytes=None if release in self.no_initramfs else 74_000_000,
        )  # fmt: skip

    def carry_out(self, step: Step) -> None:
        """What the operation's script does, as far as it shows."""
        match step:
            case InstallKernel(packages=packages):
                self.packages |= packages
                self.held |= packages.keys()
                self.update_grub()
            case HoldPackages(packages=names):
                self.held |= set(names)
            case MakeInitramfs(release=release):
                self.no_initramfs.discard(release)
                self.update_grub()
            case SetWords():
                self._write(step.path, step.text, remove=True)
                for cut in step.cuts:
                    self.files[cut.path] = without(self.files[cut.path], cut.pieces)
                self.update_grub()
            case SetNextBoot():
                self._write(step.path, step.text, remove=False)
                if step.text is not None or step.remake:
                    self.update_grub()
                if step.selector is not None:
                    self.environment["saved_entry"] = step.selector
                if step.clear_one_shot:
                    self.environment.pop("next_entry")
            case _:
                raise AssertionError(f"expected a step about the kernel, found {step.kind}")

    def _write(self, path: str, text: str | None, remove: bool) -> None:
        if text is not None:
            self.files[path] = text
        elif remove:
            self.files.pop(path, None)


def without(text: str, pieces: tuple[tuple[int, int], ...]) -> str:
    """A text whose bytes lack these pieces."""
    content = text.encode()
    for start, end in reversed(pieces):
        content = content[:start] + content[end:]
    return content.decode()


def applied(step: Step, seen: Observation) -> Observation:
    """What a step that writes no file makes of an observation."""
    match step:
        case HoldPackages(packages=names):
            found = known(seen.packages).packages
            held = tuple(each.replaced(want="hold") if each.name in names else each for each in found)
            return seen.model_copy(update={"packages": Packages(packages=held)})
        case SetNextBoot(selector=str() as selector, text=None):
            boot = known(seen.boot)
            environment = GrubEnvironment(values=boot.environment.values | {"saved_entry": selector})
            return seen.model_copy(update={"boot": boot.replaced(environment=environment)})
    raise AssertionError(f"expected a step that writes no file, found {step}")
