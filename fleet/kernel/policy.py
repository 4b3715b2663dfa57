"""A kernel policy: which kernel a Spark boots, at which exact packages, with which words on its command line."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.kernel.words import PackageName, Release, Version, Word, line_wall
from fleet.record import Record
from fleet.wall import each_once, wall

KIB64, KIB4 = 65536, 4096
"""Page sizes in bytes; of an arm64 kernel of Ubuntu the flavour's name says which (`-64k`)."""


class CommandLineWords(Record):
    """What must and what must not be on the command line; every other word is left as it is."""

    add: tuple[Word, ...] = ()
    """In this order, after all others: of a parameter that can have one value the last wins."""
    remove: tuple[Word, ...] = ()
    """`quiet` for the word and for any value of it, `kho=on` for this one alone."""

    @model_validator(mode="after")
    def _no_word_comes_and_goes(self) -> Self:
        for word in self.add:
            if any(matches(word, gone) for gone in self.remove):
                raise wall("word_added_and_removed", f"expected {word} either added or removed, found both")
        if len(set(self.add)) < len(self.add):
            raise wall("word_twice", f"add: expected each word once, found {' '.join(self.add)}")
        each_once("remove", self.remove)
        line_wall("add", " ".join(self.add))
        return self


class KernelPolicy(Record):
    """The kernel of a Spark. A policy has a name in the roster, so that several Sparks share it."""

    release: Release
    """What the next boot starts, and every one after it."""
    packages: Annotated[dict[PackageName, Version], Field(min_length=1)]
    """Every package that is pinned, at its exact version; each is held. Among them the release's image."""
    metas: tuple[PackageName, ...] = ()
    """Packages that follow the newest kernel, as `linux-nvidia-hwe-24.04`: held where installed, never installed."""
    fallback: Release | None = None
    """The release that a power cycle returns to while another one is tried; it stays installed. None: no trial."""
    command_line: CommandLineWords = CommandLineWords()
    one_shot: bool = False
    """May an entry for the next boot alone be pending? If not it is cleared."""
    page_size_bytes: Literal[4096, 16384, 65536] | None = None
    """What the running kernel must have; as the release's name says where not given, see `expected_page_size`."""
    kho: Literal["on", "off"] | None = None
    """Whether Kexec HandOver may be at work in the running kernel; None where it does not matter."""

    @property
    def expected_page_size(self) -> int | None:
        """Bytes of a page; None where neither the policy nor the name of the release tells."""
        by_name = KIB64 if self.release.endswith("-64k") else None
        return self.page_size_bytes or by_name

    @property
    def held(self) -> tuple[str, ...]:
        """Every package that nothing but this policy may move, sorted."""
        return tuple(sorted({*self.packages, *self.metas}))

    @property
    def chooses_first(self) -> bool:
        """Is what boots chosen before packages are installed? It is the fallback then, or what runs: it is there.

        So no power cycle starts a kernel that has just been installed. Without a fallback, or where that one is
        installed as well, it can only be chosen afterwards.
        """
        images = {f"linux-image-{self.fallback}", f"linux-image-unsigned-{self.fallback}"}
        return self.fallback is not None and not images & self.packages.keys()

    @property
    def kept(self) -> tuple[str, ...]:
        """The releases that must stay bootable: the pinned one, then the fallback."""
        return (self.release,) if self.fallback is None else (self.release, self.fallback)

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if not {f"linux-image-{self.release}", f"linux-image-unsigned-{self.release}"} & self.packages.keys():
            raise wall(
                "kernel_without_image",
                f"packages: expected linux-image-{self.release}, found {', '.join(sorted(self.packages))}",
            )
        if self.fallback == self.release:
            raise wall("fallback_is_release", f"fallback: expected another release than {self.release}, found it")
        each_once("metas", self.metas)
        if both := sorted(self.packages.keys() & set(self.metas)):
            raise wall("package_twice", f"metas: expected no package of packages, found {', '.join(both)}")
        if self.page_size_bytes is not None and self.release.endswith("-64k") != (self.page_size_bytes == KIB64):
            raise wall(
                "page_size_of_release",
                f"page_size_bytes: expected {KIB64} with a release that ends with -64k and only with one, "
                f"found {self.page_size_bytes} with {self.release}",
            )
        if self.kho is not None and any(word in self.command_line.add for word in _AGAINST[self.kho]):
            raise wall("kho_against_itself", f"kho: expected {self.kho} on the command line too, found the opposite")
        return self


_AGAINST = {"on": ("kho=off", "kho=0", "kho=n"), "off": ("kho=on", "kho=1", "kho=y")}
"""By what is expected, the words that make it otherwise (kernel/liveupdate, `kho=` is a boolean)."""


def matches(word: str, pattern: str) -> bool:
    """Is a word of a command line meant by one that is to be removed? `-` and `_` are one letter in a name."""
    name, equals, value = word.partition("=")
    wanted, has_value, exactly = pattern.partition("=")
    return _plain(name) == _plain(wanted) and (not has_value or (bool(equals) and value == exactly))


def _plain(name: str) -> str:
    return name.replace("-", "_")
