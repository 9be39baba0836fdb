"""The properties of a tag from events that define it and withdraw the definition."""

from __future__ import annotations

import json
from typing import Any

from headwater.ingest.fold import fold
from headwater.ingest.project.tags import tag_properties
from headwater.ingest.project.values import Properties
from headwater.schema.events import parse
from headwater.schema.facts_codec import unpack_json
from headwater.schema.headwater_facets import TAG_FACET, TAG_NAMESPACE
from tests.ingest.project.projections import FACET, at


def definition(minute: int, name: str = "pii", **content: Any) -> dict[str, Any]:
    facets = {TAG_FACET: {**FACET, **content}}
    return {
        "eventTime": at(minute),
        "dataset": {"namespace": TAG_NAMESPACE, "name": name, "facets": facets},
    }


def tag(*events: dict[str, Any]) -> Properties:
    """Return the properties of the one tag that events define, without its facts."""
    [facts] = fold(parse(json.dumps(one).encode(), received=0) for one in events).tags.values()
    found = tag_properties(facts)
    assert json.loads(unpack_json(found.pop("facts")))["name"] == facts.name
    return found


def test_a_defined_tag_has_its_description() -> None:
    assert tag(definition(0, description="About a person.")) == {
        "name": "pii",
        "description": "About a person.",
        "defined": True,
    }


def test_a_tag_may_be_defined_without_a_description() -> None:
    assert tag(definition(0)) == {"name": "pii", "description": None, "defined": True}


def test_the_newest_definition_counts_in_any_order() -> None:
    old, new = definition(0, description="Old."), definition(5, description="New.")
    assert tag(old, new) == tag(new, old) == tag(new, old, new)
    assert tag(new, old)["description"] == "New."


def test_a_withdrawn_definition_is_not_listed() -> None:
    first, withdrawn = definition(0, description="Old."), definition(5, _deleted=True)
    assert tag(first, withdrawn) == {"name": "pii", "description": None, "defined": False}
    assert tag(withdrawn, definition(9, description="Back."))["defined"] is True
