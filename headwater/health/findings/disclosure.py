"""The nodes that a finding discloses by its existence: who sees it must see all of them.

These are its subject, and what its id names: the run that began it, or the input that it is about.
The class of unmasked personal data is that of the column where it begins. A violated policy shows
that a condition on other nodes holds. The detector stores the namespaces of these nodes with the
finding, and queries compare those with the namespaces of a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from headwater.errors import QueryError
from headwater.governance.policies.evaluate import EVIDENCE_ITEMS_MAX
from headwater.health.findings import policy_violation, unmasked_personal_data
from headwater.health.findings.models import Episode
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_visibility import read_namespaces
from headwater.lineage.view import GraphView
from headwater.schema.urns import KINDS, parse_urn

# A key may begin with a hash.
_URN_IN_KEY = re.compile(rf"(?:^|:)((?:{'|'.join(KINDS)}):\S+)")
_URN = re.compile(r"[a-z]+:\S+")
_JOB, _SCHEMA = "job:", "schema:"
_OTHER_NODES = ("consumers.", "upstream.", "downstream.", "personalData.")
# No restricted caller sees this node.
_ANY_NODE = HIDDEN


def is_urn(text: str) -> bool:
    """Return True if a text is the urn of a node."""
    if not _URN.fullmatch(text):
        return False
    try:
        parse_urn(text)
    except QueryError:
        return False
    return True


def subject_of(finding_urn: str) -> str:
    """Return the urn of the node that a finding is about, from the id of the finding."""
    return finding_urn.split(":", 2)[-1].partition("@")[0]


def nodes_in_id(finding_urn: str) -> list[str]:
    """Return the nodes that the id of a finding names. A producer is not visible as a node."""
    subject = subject_of(finding_urn)
    nodes = [subject if is_urn(subject) else _ANY_NODE]
    if not subject.startswith(_JOB):
        # The runs of a job are its own.
        named = _URN_IN_KEY.search(finding_urn.partition("@")[2])
        if named and is_urn(named[1]) and not named[1].startswith(_SCHEMA):
            nodes.append(named[1])
    return nodes


def disclosed_nodes(episode: Episode) -> list[str]:
    """Return the urns of the nodes that somebody must see who sees a finding."""
    nodes = nodes_in_id(episode.id)
    if episode.rule == unmasked_personal_data.RULE:
        nodes.append(episode.evidence["path"][0])
    if episode.rule == policy_violation.RULE:
        for name, value in episode.evidence["variables"].items():
            if name.startswith(_OTHER_NODES):
                nodes += _nodes_in(value)
    return nodes


def namespaces_of(view: GraphView, episodes: Sequence[Episode]) -> dict[str, set[str]]:
    """Return the namespaces of what each of these findings discloses beside its subject, by id.

    "" stands for a node without a namespace, which only a key for everything may see.
    """
    nodes = {one.id: set(disclosed_nodes(one)) - {one.subject} for one in episodes}
    known = read_namespaces(view, set().union(*nodes.values()))
    return {id_: set(_namespaces(some, known)) for id_, some in nodes.items()}


def _namespaces(nodes: Iterable[str], known: dict[str, list[str]]) -> Iterator[str]:
    for urn in nodes:
        yield from (namespace or "" for namespace in known[urn] or [""])


def _nodes_in(value: Any) -> list[str]:
    """Return the nodes that a variable lists; a number, or a part of a list, is of any node."""
    if isinstance(value, list) and len(value) < EVIDENCE_ITEMS_MAX and all(map(is_urn, value)):
        return value
    return [_ANY_NODE]
