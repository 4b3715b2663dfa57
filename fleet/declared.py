"""What a roster says of the files that others have put on a host: kept exactly as they are, or gone."""

import re
from collections.abc import Collection
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from fleet.hardware import INTERFACES
from fleet.netplan.document import rail_path
from fleet.record import Digest, Record
from fleet.wall import each_once, wall

_NAME = r"[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*"
_KEYFILE = rf"/etc/NetworkManager/system-connections/{_NAME}( {_NAME})*\.nmconnection"
_PATH = rf"^(/etc/netplan/{_NAME}\.yaml|{_KEYFILE})$"
DurablePath = Annotated[str, Field(pattern=_PATH)]
"""A file that netplan or NetworkManager reads and that stays; a name that begins with a dot is none to them."""


def is_declarable(path: str) -> bool:
    """Can a roster name the file of this path?"""
    return re.fullmatch(_PATH, path) is not None


class AdoptedFile(Record):
    """A file of another owner that is declared exactly as it is; a roster calls its digest `digest`."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    file: DurablePath
    content_digest: Annotated[Digest, Field(alias="digest")]
    """sha256 of its bytes."""


class Declared(Record):
    """What is declared of a host's files that are not ours. A file is kept or goes, not both."""

    adopted: tuple[AdoptedFile, ...] = ()
    revert: tuple[DurablePath, ...] = ()

    def digest_of(self, path: str) -> str | None:
        """The digest under which a file is adopted; None where it is not."""
        return next((each.content_digest for each in self.adopted if each.file == path), None)

    @model_validator(mode="after")
    def _one_word_for_a_file(self) -> Self:
        kept = [each.file for each in self.adopted]
        for path in kept:
            if path in self.revert:
                raise wall("adopted_and_reverted", f"{path}: expected it adopted or reverted, found it in both")
            if kept.count(path) > 1:
                raise wall("adopted_twice", f"{path}: expected one digest for a file, found {kept.count(path)}")
        each_once("revert", self.revert)
        return self


def not_ours(spark: str, declared: Declared, with_rail: Collection[str]) -> None:
    """The walls between what is declared of others' files and our own documents on a Spark.

    One of ours that a port with a rail needs cannot be reverted; a left over one can. None can be adopted.
    """
    for interface in INTERFACES:
        path = rail_path(spark, interface)
        if declared.digest_of(path) is not None:
            raise wall("adopted_ours", f"sparks.{spark}.adopted: expected files of others, found ours: {path}")
        if path in declared.revert and interface in with_rail:
            raise wall(
                "reverted_ours",
                f"sparks.{spark}.revert: expected no document of a rail, found that of {interface}: {path}",
            )
