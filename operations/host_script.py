"""What each step of a host policy runs on the host, as root."""

from shlex import quote

from fleet.host.steps import RemoveHostFile, SetKernelValues, WriteHostFile
from fleet.host.text import HostFile
from fleet.step import Step
from operations.acting import write_file

ROOT = ""
"""What stands before every path; tests put a directory there."""


def script(step: Step) -> str:
    """The POSIX script that carries a step out; killed anywhere in it, it leaves a state from which one is due."""
    match step:
        case WriteHostFile(file=file):
            return _write(file)
        case RemoveHostFile(path=path):
            return f"rm -f {quote(ROOT + path)}\nsync {quote(_folder(path))}\n"
        case SetKernelValues(values=values):
            return "".join(f"printf %s {quote(each)} > {quote(ROOT + path)}\n" for path, each in values.items())
    raise AssertionError(f"expected a step of a host policy, found {step.kind}")


def _folder(path: str) -> str:
    return (ROOT + path).rpartition("/")[0]


def _write(file: HostFile) -> str:
    folder = f"mkdir -p {quote(_folder(file.path))}\n"
    if file.link is not None:
        return f"{folder}ln -sfnT {quote(file.link)} {quote(ROOT + file.path)}\nsync {quote(_folder(file.path))}\n"
    return folder + write_file(ROOT + file.path, file.text, file.mode)
