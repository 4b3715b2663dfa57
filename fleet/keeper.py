"""The profile that gives a rail's port its address, and the step that brings it up."""

from typing import ClassVar, Self

from fleet.adopted import Kept
from fleet.connections import Connections, Profile
from fleet.desired import DesiredEnd
from fleet.keyfile import RUN_DIRECTORY
from fleet.rail_document import document_for
from fleet.record import Record
from fleet.step import TOUCH_PORTS, Effect, Step


class Keeper(Record):
    """The profile that gives a rail's port its address: of our document, or of an adopted file."""

    name: str
    uuid: str | None
    """None where an adopted file has given it none, and the profile is found by its file."""
    profile_file: str
    """Where NetworkManager has it once netplan has generated it."""

    @classmethod
    def of(cls, end: DesiredEnd, kept: Kept | None) -> Self:
        """The adopted file's where there is one, else our own."""
        if kept is not None:
            return cls(name=f"the profile of {kept.path}", uuid=None, profile_file=kept.profile_file)
        uuid = document_for(end).uuid
        return cls(name="our profile", uuid=uuid, profile_file=f"{RUN_DIRECTORY}/netplan-NM-{uuid}.nmconnection")

    def profile(self, connections: Connections) -> Profile | None:
        """The profile as NetworkManager has it loaded."""
        if self.uuid is not None:
            return connections.profile(self.uuid)
        return next((each for each in connections.profiles if each.filename == self.profile_file), None)


class BringUp(Step):
    """The base of the steps that bring one profile up and nothing else: the management connection is left alone."""

    follows: ClassVar[frozenset[str]] = TOUCH_PORTS
    effect: Effect = Effect.ACTIVATE
    interface: str
    keeper: Keeper
