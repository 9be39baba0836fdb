"""Names in a statement that the graph cannot have: Neo4j answers them without rows or with nulls.

A misspelled label looks like an empty graph, so an auditor would conclude that nothing was found.
The names are those of `headwater.schema.graph`. Only patterns such as `(r:PipelineRun {status: 1})`
and properties of their variables are checked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from difflib import get_close_matches

from headwater.schema.graph import load_graph_types

_OPAQUE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_ELEMENT = re.compile(
    r"(?P<bracket>[(\[])\s*(?P<variable>\w+)?\s*:\s*(?P<names>!?\w+(?:\s*[|&]\s*:?\s*!?\w+)*)"
    r"\s*(?:\{(?P<properties>[^}]*)\})?"
)
_KEY = re.compile(r"(\w+)\s*:")
_PROPERTY = re.compile(r"\b(\w+)\.(\w+)\b(?!\s*\()")
_SIMILAR_MAX = 3
# What a statement in the words of other tools would match here (decision 0040).
_READS = ": write (j:Job)<-[:FEEDS]-(d:Dataset)"
_WRITES = ": write (j:Job)-[:PRODUCED]->(d:Dataset)"
_INSTEAD = {
    "CONSUMES": _READS,
    "READS": _READS,
    "READS_FROM": _READS,
    "PRODUCES": _WRITES,
    "WRITES": _WRITES,
    "WRITES_TO": _WRITES,
    "DERIVED_BY": ": write (d:Dataset)<-[:PRODUCED]-(j:Job)",
    "Transform": ": write Job",
    "Transformation": ": write Job",
}


def unknown_names(text: str) -> list[str]:
    """Return a note on each label, type of edge and property of a statement that does not exist."""
    types = load_graph_types()
    labels, edges = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for label in types.labels:
        labels[label.name].update(property.name for property in label.properties)
    for label in types.labels:
        labels[label.name] |= labels[label.of] if label.of else set()
    for edge in types.edges:
        edges[edge.type].update(property.name for property in edge.properties)
    plain = _OPAQUE.sub("''", text)
    notes: dict[str, None] = {}
    variables: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for found in _ELEMENT.finditer(plain):
        known, kind = (labels, "label") if found["bracket"] == "(" else (edges, "type of edge")
        names = re.findall(r"\w+", found["names"])
        for name in names:
            if name not in known:
                instead = _INSTEAD.get(name) or _similar(name, known)
                notes[f"the graph has no {kind} {name}{instead}"] = None
        if all(name in known for name in names) and "!" not in found["names"]:
            owners = {name: known[name] for name in names}
            variables[found["variable"] or ""].update(owners)
            for key in _KEY.findall(found["properties"] or ""):
                notes |= _note_property(key, owners)
    for variable, name in _PROPERTY.findall(plain):
        if variables.get(variable):
            notes |= _note_property(name, variables[variable])
    return list(notes)


def _note_property(name: str, owners: dict[str, set[str]]) -> dict[str, None]:
    """Return a note if none of the owners has a property."""
    known = set().union(*owners.values())
    if name in known:
        return {}
    return {
        f"no {' or '.join(sorted(owners))} has the property {name}{_similar(name, known)}": None
    }


def _similar(name: str, known: Iterable[str]) -> str:
    """Return the similar names, in words; empty without any."""
    by_text = {one.casefold(): one for one in sorted(known)}
    text = name.casefold().rstrip("s")
    similar = [one for key, one in by_text.items() if text in key or key in text]
    similar += [by_text[key] for key in get_close_matches(text, by_text, n=_SIMILAR_MAX)]
    shown = list(dict.fromkeys(similar))[:_SIMILAR_MAX]
    return f" (similar: {', '.join(shown)})" if shown else ""
