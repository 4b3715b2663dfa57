"""Settings of the running kernel below /sys that are chosen from a few words: huge pages, CPU governors."""

import re
from typing import Literal

from fleet.host.answer import answer
from fleet.record import Record

THP = "/sys/kernel/mm/transparent_hugepage"
CPUS = "/sys/devices/system/cpu"


class Choice(Record):
    """A setting with the words that the kernel offers for it."""

    value: str
    choices: tuple[str, ...]


class HugePages(Record):
    """Transparent huge pages, and the size of a page."""

    page_size_bytes: int
    enabled: Choice | None = None
    """None where this kernel is built without them; so the others."""
    defrag: Choice | None = None
    shmem_enabled: Choice | None = None


class CpuGovernor(Record):
    """What scales the frequency of one CPU."""

    cpu: int
    governor: Choice


class Governors(Record):
    """Every CPU that is online and whose frequency is scaled; none where no driver does."""

    cpus: tuple[CpuGovernor, ...] = ()


class HugePagePolicy(Record):
    """Transparent huge pages as they should be; what is left out stays as it is (transhuge.rst)."""

    enabled: Literal["always", "madvise", "never"] | None = None
    defrag: Literal["always", "defer", "defer+madvise", "madvise", "never"] | None = None
    shmem_enabled: Literal["always", "within_size", "advise", "never", "deny", "force"] | None = None

    @property
    def values(self) -> dict[str, str]:
        """What is declared, by the name of its file."""
        return {name: str(value) for name, value in self if value is not None}


Governor = Literal["performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"]


def parse_huge_pages(text: str) -> HugePages:
    """Huge pages from the JSON of a look; raises ValueError."""
    found = answer(text)
    values = {name: None if said is None else bracketed(said) for name, said in found["files"].items()}
    return HugePages(page_size_bytes=found["page_size"], **values)


def parse_governors(text: str) -> Governors:
    """The governors from the JSON of a look; raises ValueError."""
    return Governors(
        cpus=tuple(
            CpuGovernor(
                cpu=each["cpu"],
                governor=Choice(value=each["governor"].strip(), choices=tuple(each["available"].split())),
            )
            for each in answer(text)["cpus"]
        )
    )


def bracketed(text: str) -> Choice:
    """`always [madvise] never`; raises ValueError where no word, or more than one, is in brackets."""
    chosen = re.findall(r"\[([^\[\]\s]+)\]", text)
    if len(chosen) != 1:
        raise ValueError(f"expected one word in brackets, found {text.strip()!r}")
    return Choice(value=chosen[0], choices=tuple(text.replace("[", "").replace("]", "").split()))
