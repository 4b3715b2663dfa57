"""Netplan's files as data: what each says, what it binds, what all of them together make of an interface."""

from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.disagreement import Disagreement
from fleet.netplan.document import NetplanDocument, rail_document, rail_uuid
from fleet.netplan.effective import (
    Conflict,
    EffectiveDevice,
    MergedNetplan,
    binding,
    durable_files_for,
    effective,
)
from fleet.netplan.own_view import Complaint, NetplanEffective
from fleet.netplan.provenance import Overridden, Setting
from fleet.netplan.records import Binds, Directory, ErrorKind, NetplanFileError, Problem, Route
from fleet.netplan.settings import NetplanSettings

__all__ = [
    "Binds",
    "Complaint",
    "Conflict",
    "Directory",
    "Disagreement",
    "EffectiveDevice",
    "ErrorKind",
    "MergedNetplan",
    "NetplanDevice",
    "NetplanDocument",
    "NetplanEffective",
    "NetplanFile",
    "NetplanFileError",
    "NetplanSettings",
    "Overridden",
    "Problem",
    "Route",
    "Setting",
    "binding",
    "durable_files_for",
    "effective",
    "rail_document",
    "rail_uuid",
]
