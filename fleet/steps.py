"""Every kind of step there is, as one type: a plan is read back with each step as what it was."""

from typing import Annotated

from pydantic import Field

from fleet.guard import GuardedChange
from fleet.host.steps import HostStep
from fleet.kernel.steps import KernelStep
from fleet.ollama.steps import (
    ConfigureService,
    CopyModel,
    EvictResident,
    InstallProgram,
    LoadResident,
    OfferModel,
    PullModel,
    RetireOllama,
)
from fleet.rail_active import Activate
from fleet.rail_document import WriteDocument
from fleet.rail_gid import RenewGid
from fleet.revert import ReloadProfiles, RemoveFile
from fleet.transit.steps import ActivateTransit, RemoveTransit, WriteTransit

AnyStep = Annotated[
    RemoveFile
    | ReloadProfiles
    | WriteDocument
    | Activate
    | RenewGid
    | GuardedChange
    | WriteTransit
    | ActivateTransit
    | RemoveTransit
    | InstallProgram
    | ConfigureService
    | PullModel
    | OfferModel
    | CopyModel
    | LoadResident
    | EvictResident
    | RetireOllama
    | KernelStep
    | HostStep,
    Field(discriminator="kind"),
]
"""A step of any kind, told apart by its `kind`."""
