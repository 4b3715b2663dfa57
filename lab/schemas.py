"""The JSON documents that we write, by the name of their schema in docs/reference/schema (JSON Schema 2020-12)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fleet.assembly_fit import AssemblyFit
from fleet.evidence import FitEvidence
from fleet.receipt.line import Line
from fleet.receipt.receipt import Receipt
from fleet.record import Record
from lab.converge_document import Converged, Readback
from lab.doctor.document import DoctorDocument
from lab.document import Ended
from lab.drain_document import Drains
from lab.evidence.documents import Listing as EvidenceListing
from lab.evidence.documents import Recorded
from lab.evidence.documents import Verdict as EvidenceVerdict
from lab.fit import FitDocument
from lab.kernel.documents import ShowDocument, Tried
from lab.plans.documents import CollectionDocument, PlanDocument
from lab.receipts.documents import Listing, Verdict
from lab.status.document import StatusDocument

DOCUMENTS: Mapping[str, type[Record]] = MappingProxyType(
    {
        "apply": Converged,
        "converge": Converged,
        "doctor": DoctorDocument,
        "drain": Drains,
        "ended": Ended,
        "evidence": FitEvidence,
        "evidence-list": EvidenceListing,
        "evidence-record": Recorded,
        "evidence-show": FitEvidence,
        "evidence-verify": EvidenceVerdict,
        "fit": FitDocument,
        "fit-assembly": AssemblyFit,
        "kernel-show": ShowDocument,
        "kernel-trial": Tried,
        "observe": CollectionDocument,
        "plan": PlanDocument,
        "readback": Readback,
        "receipt": Line,
        "receipts-list": Listing,
        "receipts-show": Receipt,
        "receipts-verify": Verdict,
        "status": StatusDocument,
    }
)
"""`receipt` is each line of a receipt's file, `evidence` such a file; else it is what `COMMAND` or `COMMAND-SUBCOMMAND`
prints with --json; `fit-assembly` is of `fit` for an assembly, `ended` what each prints where it ended before that."""


def schema(name: str) -> dict[str, Any]:
    """The schema of a document as it is written."""
    found = DOCUMENTS[name].model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
