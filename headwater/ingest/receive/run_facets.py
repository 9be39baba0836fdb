"""Add a facet to the run of an event, and leave the rest of the body as it was sent."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any

import msgspec

from headwater.schema.headwater_facets import PRODUCER

_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def with_run_facet(body: bytes, name: str, fields: Mapping[str, Any]) -> bytes | None:
    """Return a run event with one of Headwater's facets; it replaces a facet of the same name.

    Fields without a value are left out. Returns None for a body that only a lenient parser reads.
    """
    facet = {
        "_producer": PRODUCER,
        "_schemaURL": f"{PRODUCER}/facets/{name}.json",
        **{field: value for field, value in fields.items() if value},
    }
    try:
        event = _decoder.decode(body.removeprefix(codecs.BOM_UTF8))
        run = _decoder.decode(event["run"])
        present = bytes(run.get("facets", b"null"))
        facets = _decoder.decode(present) if present != b"null" else {}
        facets[name] = msgspec.Raw(msgspec.json.encode(facet))
        run["facets"] = msgspec.Raw(msgspec.json.encode(facets))
        event["run"] = msgspec.Raw(msgspec.json.encode(run))
        return msgspec.json.encode(event)
    except (msgspec.MsgspecError, UnicodeError, KeyError, RecursionError):
        return None
