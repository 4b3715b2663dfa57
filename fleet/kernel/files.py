"""The files of each kernel on a host: its image, its initramfs, its modules, and the driver's module among them."""

from fleet.kernel.versions import flavour, release_order
from fleet.record import Record


class KernelFiles(Record):
    """What is there of one release, whichever package, or nobody, has put it there."""

    release: str
    has_image: bool = False
    """/boot/vmlinuz-<release>."""
    package: str | None = None
    """The package that the image belongs to, which may be called otherwise; None for one of nobody's."""
    initrd_bytes: int | None = None
    """Of /boot/initrd.img-<release>; None where it is not there."""
    has_modules: bool = False
    """/lib/modules/<release>/modules.dep: without it no module is loaded."""
    has_headers: bool = False
    """/lib/modules/<release>/build leads somewhere: DKMS can build for it."""
    nvidia_version: str | None = None
    """Of the module `nvidia` that this release would load; None where it has none."""
    nvidia_signer: str | None = None
    """Who signed that module; None for an unsigned one, which Secure Boot refuses."""

    @property
    def is_bootable(self) -> bool:
        """Is everything there that a boot needs?"""
        return self.has_image and self.has_modules and bool(self.initrd_bytes)

    @property
    def missing(self) -> str:
        """What a boot would lack, in words."""
        parts = (("image", self.has_image), ("initramfs", bool(self.initrd_bytes)), ("modules", self.has_modules))
        return ", ".join(name for name, is_there in parts if not is_there)


class InstalledKernels(Record):
    """Every release of which anything is there, from old to new."""

    kernels: tuple[KernelFiles, ...]

    def of(self, release: str) -> KernelFiles:
        """What is there of a release; of one that nobody knows, nothing."""
        return next((each for each in self.kernels if each.release == release), KernelFiles(release=release))

    def newest_like(self, release: str) -> str:
        """The newest release of the same flavour that has an image, or the release itself."""
        found = [each.release for each in self.kernels if each.has_image and flavour(each.release) == flavour(release)]
        return max([*found, release], key=release_order)


def parse_installed(text: str) -> InstalledKernels:
    """From lines `release`, tab, key, equals, value; raises ValueError for anything else."""
    found: dict[str, dict[str, str]] = {}
    for line in filter(None, text.split("\n")):
        release, tab, pair = line.partition("\t")
        key, equals, value = pair.partition("=")
        if not tab or not equals:
            raise ValueError("kernels: expected a release, a tab and key=value, found another line")
        found.setdefault(release, {})[key] = value
    kernels = (_kernel(release, found[release]) for release in sorted(found, key=release_order))
    return InstalledKernels(kernels=tuple(kernels))


def _kernel(release: str, values: dict[str, str]) -> KernelFiles:
    return KernelFiles(
        release=release,
        has_image="image" in values,
        package=values.get("package"),
        initrd_bytes=int(values["initrd"]) if "initrd" in values else None,
        has_modules="modules" in values,
        has_headers="headers" in values,
        nvidia_version=values.get("nvidia_version") or None,
        nvidia_signer=values.get("nvidia_signer") or None,
    )
