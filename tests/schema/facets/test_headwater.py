"""Headwater's own facets, read leniently. `tests/schema/test_headwater_facets.py` has their
events.
"""

from __future__ import annotations

from headwater.schema.facets import salvage
from headwater.schema.facets.headwater import (
    AliasedName,
    AnswerFacet,
    ArtifactFacet,
    Citation,
    RunFacet,
    SourceFacet,
    SymlinksFacet,
    read_answer,
    read_citations,
)


def test_a_readable_part_of_each_facet_is_read() -> None:
    source = '{"origin": "CRM", "rowCount": "3", "checksum": 5}'
    assert salvage(SourceFacet, source) == SourceFacet(origin="CRM", row_count=3)
    assert salvage(ArtifactFacet, '{"runId": "r", "type": 1}') == ArtifactFacet("r")
    assert salvage(ArtifactFacet, '{"type": "table"}') is None
    assert salvage(RunFacet, '{"version": 1, "undated": true}') == RunFacet(undated=True)
    same = '{"same": [{"namespace": "db", "name": "t"}, {"name": "t"}], "apart": 7}'
    assert salvage(SymlinksFacet, same) == SymlinksFacet(same=[AliasedName("db", "t")])


def test_citations_are_read_once_and_blank_texts_are_absent() -> None:
    cited = '{"namespace": "db", "name": "t", "runId": " "}'
    text = f'{{"cites": [{cited}, {cited}, {{"answerId": "a"}}, {{}}]}}'
    assert read_citations(text) == [Citation("db", "t"), Citation(answer_id="a")]
    assert read_answer("[]") == AnswerFacet()
