"""The roster rows that declare what a host has, exactly as it is: files of others, and the rails of its addresses."""

import json
from collections.abc import Mapping
from pprint import pformat
from typing import Any

from pydantic import Field, ValidationError

from fleet.adopted import content_digests
from fleet.adoption.assemble import Made, Values, fabrics, numbered, segment
from fleet.adoption.found import FoundEnd, found_on
from fleet.declared import AdoptedFile, is_declarable
from fleet.desired import DesiredSpark
from fleet.foreign import SECTIONS, mixed_file
from fleet.netplan.document import rail_path
from fleet.observation import Observation, known
from fleet.ownership import Lasting, ports
from fleet.rail import Segment
from fleet.rail_document import WriteDocument, document_step
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.revert import declared_refusals
from fleet.roster import Roster
from fleet.roster_error import sentence_of


class Rows(Record):
    """What to add to a roster for one Spark."""

    spark: str
    adopted: tuple[AdoptedFile, ...] = ()
    """All adopted files of the Spark, those that the roster has too."""
    fabrics: dict[str, Values] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """One line for each thing that no row can say."""
    notes: tuple[str, ...] = ()
    """What is worth knowing and stands in nobody's way."""

    @property
    def values(self) -> Values:
        """The rows as plain values, in the places that they have in a roster."""
        adopted = [each.to_json() for each in self.adopted]
        return {
            **({"sparks": {self.spark: {"adopted": adopted}}} if adopted else {}),
            **({"fabrics": self.fabrics} if self.fabrics else {}),
        }

    @property
    def text(self) -> str:
        """The rows as Python for the end of a group_data file."""
        lines = []
        if self.adopted:
            adopted = [each.to_json() for each in self.adopted]
            lines.append(f'roster["sparks"]["{self.spark}"]["adopted"] = {_literal(adopted)}')
        for name, values in self.fabrics.items():
            lines.append(f'roster.setdefault("fabrics", {{}})["{name}"] = {_literal(values)}')
        return "\n".join(lines) or f"# {self.spark}: the roster declares all that is on its ports"


def _literal(value: Any) -> str:
    return pformat(value, width=118, sort_dicts=False).replace("'", '"')


def adoption(roster: Roster, spark: str, collection: Mapping[str, Observation]) -> Rows | Refusal:
    """The rows for one enrolled Spark; `collection` has it and every other host that may be its peer.

    A refusal where the Spark itself was not observed; a peer that was not is none.
    """
    seen = collection[spark]
    if blind := seen.unobserved(*SECTIONS):
        return blind
    desired = roster.desired_for(spark)
    found = found_on(spark, seen, desired.spark.revert)
    adopted, mixed = _adopted(desired, seen)
    rails, problems, notes = _rails(roster, spark, collection)
    mine = [each for each in fabrics(rails, sorted(collection), {}) if spark in each.sparks]
    rows = Rows(
        spark=spark,
        adopted=adopted,
        fabrics=_named(roster, [each for each in mine if not each.problems]),
        problems=tuple(
            dict.fromkeys((*mixed, *found.problems, *problems, *(x for each in mine for x in each.problems)))
        ),
        notes=tuple(notes),
    )
    return rows.model_copy(update={"problems": (*rows.problems, *_not_yet(roster, rows, seen))})


def _named(roster: Roster, made: list[Made]) -> dict[str, Values]:
    """By names that the roster does not have yet: what is added replaces nothing."""
    named: dict[str, Values] = {}
    for each in made:
        names = (each.name, *(f"{each.name}-{number}" for number in range(2, 1000)))
        named[next(name for name in names if name not in roster.fabrics and name not in named)] = each.values
    return named


def _adopted(desired: DesiredSpark, seen: Observation) -> tuple[tuple[AdoptedFile, ...], list[str]]:
    """The durable files of others on the ports, and those of them that no row can declare."""
    files, links = {file.path: file for file in known(seen.netplan)}, known(seen.links)
    now = content_digests(seen)
    kept = [each.file for each in desired.spark.adopted if now.get(each.file) is not None]
    digests = {path: AdoptedFile(file=path, content_digest=now[path]) for path in kept}
    problems: list[str] = []
    for port in ports(known(seen.netplan), known(seen.connections), links).ports:
        for claim in port.claims:
            path = claim.file
            if claim.lasting is not Lasting.PERSISTENT or path is None or path in desired.spark.revert:
                continue
            if path == rail_path(desired.name, port.interface):
                continue
            mixed = mixed_file(desired.name, files[path], links) if path in files else None
            if mixed is not None:
                problems.append(str(mixed))
            elif claim.content_digest is None or not is_declarable(path):
                problems.append(f"{desired.name} {path}: expected a file that a roster can name, found this")
            else:
                digests[path] = AdoptedFile(file=path, content_digest=claim.content_digest)
    return tuple(digests[path] for path in sorted(digests)), problems


def _rails(
    roster: Roster, spark: str, collection: Mapping[str, Observation]
) -> tuple[list[Segment], list[str], list[str]]:
    """The segments that the roster lacks, from the addresses of every observed host, and what hinders the Spark's."""
    free = {name: _undeclared_ends(roster, name, seen) for name, seen in collection.items()}
    subnets: dict[str, list[FoundEnd]] = {}
    for found in (each for ends in free.values() for each in ends):
        subnets.setdefault(str(found.end.address.cidr), []).append(found)
    taken = {each.rail for each in roster.segments}
    segments: list[Segment] = []
    problems, notes = _other_than_declared(roster, spark, collection[spark]), list[str]()
    silent = [name for name, seen in collection.items() if seen.unobserved(*SECTIONS)]
    for subnet, founds in subnets.items():
        is_mine = any(each.end.spark == spark for each in founds)
        if len(founds) == 1:
            problems += [_no_peer(founds[0], silent)] if is_mine else []
            continue
        switch = "switch1" if len(founds) > 2 else None
        try:
            segments.append(segment(numbered(subnet, taken), [each.end for each in founds], switch))
        except ValidationError as error:
            problems += [sentence_of(each) for each in error.errors(include_url=False)] if is_mine else []
            continue
        if is_mine:
            notes += [f"the other end is on {each.end.spark}: sparks adopt {each.end.spark}" for each in founds
                      if each.end.spark != spark and each.is_durable]  # fmt: skip
    return segments, problems, list(dict.fromkeys(notes))


def _undeclared_ends(roster: Roster, name: str, seen: Observation) -> list[FoundEnd]:
    """The ends of a host on ports for which the roster has no rail; none of a host that was not observed."""
    if seen.unobserved(*SECTIONS):
        return []
    desired = roster.desired_for(name)
    found = found_on(name, seen, desired.spark.revert).ends
    return [each for each in found if desired.end_on(each.end.interface) is None]


def _other_than_declared(roster: Roster, spark: str, seen: Observation) -> list[str]:
    """The roster has a rail there already, and it is another: nobody but a person can tell which is right."""
    desired, problems = roster.desired_for(spark), []
    for found in found_on(spark, seen, desired.spark.revert).ends:
        rail, end = desired.end_on(found.end.interface), found.end
        # Two addresses of one network are equal to netaddr.
        said, is_there = (f"{each.address} mtu {each.mtu}" if each else None for each in (rail, end))
        if found.is_durable and said is not None and said != is_there:
            problems.append(
                f"{end}: expected what the roster has, {said}, found {is_there}; correct the one or the other"
            )
    return problems


def _no_peer(found: FoundEnd, silent: list[str]) -> str:
    lost = "" if found.is_durable else ", lost at the next boot"
    seen = f"; not observed: {', '.join(sorted(silent))}" if silent else ""
    return (
        f"{found.end}: expected another enrolled spark with an address in {found.end.address.cidr}, "
        f"found none for {found.end.address}{lost}{seen}"
    )


def _not_yet(roster: Roster, rows: Rows, seen: Observation) -> tuple[str, ...]:
    """What would still be refused with the rows in the roster: the proof of the round trip."""
    values = roster.to_json()
    values["sparks"][rows.spark]["adopted"] = [each.to_json() for each in rows.adopted]
    values["fabrics"] |= rows.fabrics
    try:
        merged = Roster.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        return tuple(sentence_of(each) for each in error.errors(include_url=False))
    desired = merged.desired_for(rows.spark)
    outcomes = [*declared_refusals(desired, seen), *(document_step(end, seen) for end in desired.rail_ends)]
    refusals = (str(each) for each in outcomes if each is not None and not isinstance(each, WriteDocument))
    return tuple(each for each in dict.fromkeys(refusals) if each not in rows.problems)
