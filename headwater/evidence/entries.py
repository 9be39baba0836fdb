"""The entries of an evidence pack as one list, for tables, spreadsheets and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headwater.evidence.digest import Data


def entries(pack: Data) -> list[Data]:
    """Return every entry of a pack with the name of its section, in the order of the pack."""
    found = [{"section": "subject", **pack["subject"]}]
    for name, section in _sections(pack):
        found += [{"section": name, **entry} for entry in section]
    return found


def _sections(pack: Data) -> Iterator[tuple[str, list[Data]]]:
    """Yield the sections that are lists; those of the newest entries hold theirs as `items`."""
    for name, content in pack.items():
        if name == "lineage":
            yield "nodes", content["nodes"]
            yield "edges", content["edges"]
        else:
            listed: Any = content.get("items") if isinstance(content, dict) else content
            if isinstance(listed, list):
                yield name, listed
