"""The entries of a pack: every fact of it, in the order of the pack, under its section."""

from __future__ import annotations

from headwater.evidence.entries import entries
from tests.evidence.packs import pack


def test_every_section_has_its_entries() -> None:
    found = entries(pack())
    assert [entry["section"] for entry in found] == [
        "subject", "nodes", "nodes", "edges", "runs", "codeVersions", "versions", "freshness",
        "violations", "findings", "owners", "tags",
    ]  # fmt: skip
    assert found[3] == {
        "section": "edges",
        "source": "job:etl:orders",
        "target": "dataset:db:orders",
        "type": "orders",
    }


def test_an_older_pack_may_lack_sections() -> None:
    small = pack()
    for name in ("runs", "tags", "violations"):
        del small[name]
    sections = {entry["section"] for entry in entries(small)}
    assert sections & {"runs", "tags", "violations"} == set()
