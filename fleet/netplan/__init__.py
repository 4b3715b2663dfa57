"""Netplan's files as data: what each says, what it binds, what all of them together make of an interface."""

from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.document import NetplanDocument, rail_document, rail_uuid
from fleet.netplan.records import Binds, Directory, ErrorKind, NetplanFileError, Problem, Route
from fleet.netplan.settings import NetplanSettings

__all__ = [
    "Binds",
    "Directory",
    "ErrorKind",
    "NetplanDevice",
    "NetplanDocument",
    "NetplanFile",
    "NetplanFileError",
    "NetplanSettings",
    "Problem",
    "Route",
    "rail_document",
    "rail_uuid",
]
