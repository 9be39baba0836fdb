"""The data contracts of a dataset, from its facets: their versions, and which was in force when.

Pure.

A version of a contract is in force from its effective time until a newer version takes effect. The
effective time is the one that the contract names (`contractCreatedTs`), or else the time of its
import. Versions are ordered by their numbers: 1.10.0 is newer than 1.9.0. A draft, a proposed and a
retired version promise nothing; a retired one ends the versions before it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headwater.errors import EventError
from headwater.schema.events import parse_instant
from headwater.schema.facets.contracts import ContractFacet
from headwater.schema.facets.dataset import DatasetTag
from headwater.schema.facets.kinds import salvage
from headwater.schema.facts import LwwRegister, Registers

FACET_PREFIX = "headwater_contract_"
# A contract of more bytes is not sent; of a larger facet the graph keeps the short values alone.
FACET_BYTES_MAX = 262_144
# The versions of contracts of one dataset that are read, the newest first.
VERSIONS_MAX = 200
CLASSIFICATION_TAG = "classification"
_NOT_BINDING = frozenset({"draft", "proposed", "retired"})
_DIGITS = 16
_NUMBER = re.compile(r"[0-9]{1,18}")
_WORDS = re.compile(r"[0-9]+|[^0-9.\-+_]+")
Parts = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class ContractVersion:
    """One version of a contract, in force from `begin` until `end` (None: still).

    Instants are microseconds since 1970. An `end` at or before `begin` means that it never was.
    """

    facet: ContractFacet
    begin: int
    end: int | None = None

    @property
    def is_binding(self) -> bool:
        """Return True if the version promises anything at some time."""
        status = (self.facet.status or "").strip().casefold()
        return status not in _NOT_BINDING and (self.end is None or self.end > self.begin)


def contract_versions(facets: Mapping[str, LwwRegister]) -> list[ContractVersion]:
    """Return all versions of all contracts in the facets of a dataset, by id, oldest first."""
    found: dict[str, list[ContractVersion]] = {}
    for name in sorted(facets):
        register = facets[name]
        if not name.startswith(FACET_PREFIX) or not register.value:
            continue
        facet = salvage(ContractFacet, register.value)
        if facet is not None and facet.contract_id.strip():
            begin = _effective(facet, register.instant)
            found.setdefault(facet.contract_id, []).append(ContractVersion(facet, begin))
    versions: list[ContractVersion] = []
    for contract in sorted(found):
        versions += _with_ends(found[contract])
    return versions


def current_versions(versions: Iterable[ContractVersion]) -> list[ContractVersion]:
    """Return the newest version of each contract, by id."""
    newest: dict[str, ContractVersion] = {}
    for one in versions:
        newest[one.facet.contract_id] = one
    return [newest[contract] for contract in sorted(newest)]


def contract_tags(facets: Registers) -> list[DatasetTag]:
    """Return the classifications of columns in the binding contracts as tags, each once."""
    if not any(name.startswith(FACET_PREFIX) for name in facets):
        return []
    tags: dict[tuple[str, str], DatasetTag] = {}
    for one in current_versions(contract_versions(facets)):
        for column in one.facet.columns or () if one.is_binding else ():
            if column.classification and column.classification.strip():
                key = (column.name, column.classification)
                tags[key] = DatasetTag(CLASSIFICATION_TAG, column.classification, field=column.name)
    return [tags[key] for key in sorted(tags)]


def facet_name(contract_id: str, version: str) -> str:
    """Return the name of the facet of one version of a contract."""
    text = f"{contract_id}\0{version}".encode("utf-8", "surrogatepass")
    return f"{FACET_PREFIX}{hashlib.sha256(text).hexdigest()[:_DIGITS]}"


def version_key(version: str) -> tuple[Parts, bool, Parts]:
    """Return the key that orders versions: numbers by value, and 2.0.0-rc1 before 2.0.0."""
    release, _, candidate = version.strip().casefold().removeprefix("v").partition("-")
    return _parts(release), not candidate, _parts(candidate)


def _parts(text: str) -> Parts:
    return tuple(
        (1, int(part), "") if _NUMBER.fullmatch(part) else (0, 0, part)
        for part in _WORDS.findall(text)
    )


def _effective(facet: ContractFacet, imported: int) -> int:
    if not facet.effective_from:
        return imported
    try:
        return parse_instant(facet.effective_from)
    except EventError:
        return imported


def _with_ends(versions: list[ContractVersion]) -> list[ContractVersion]:
    """Return versions of one contract, oldest first, each until a newer one begins."""
    ordered = sorted(
        versions, key=lambda one: (version_key(one.facet.version), one.facet.version, one.begin)
    )[-VERSIONS_MAX:]
    ended: list[ContractVersion] = []
    end: int | None = None
    for one in reversed(ordered):
        ended.append(ContractVersion(one.facet, one.begin, end))
        if not _is_draft(one.facet):
            end = one.begin if end is None else min(end, one.begin)
    return ended[::-1]


def _is_draft(facet: ContractFacet) -> bool:
    return (facet.status or "").strip().casefold() in {"draft", "proposed"}
