"""The digest of an evidence pack: one hash of the whole pack and one hash of each section.

The hashed form is *canonical JSON*: keys sorted by code point, no spaces, every character outside
ASCII written as \\uXXXX, numbers as Python's `json` writes them. An evidence document is

    {"pack": {...},
     "digest": {"algorithm": "SHA-256", "hash": "...", "sections": {"runs": "...", ...}}}

Compare the hash with a copy recorded elsewhere when the pack was created. A person who can change
the file can also compute a new digest. The hashes of the sections show where two packs differ.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater.errors import QueryError

Data = dict[str, Any]
ALGORITHM = "SHA-256"


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON types: times become ISO 8601 in UTC, NaN and infinity become text."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def canonical_json(value: Any) -> bytes:
    """Encode a value as canonical JSON, the form that is hashed."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return text.encode("ascii")


def add_digest(pack: Data) -> Data:
    """Return the evidence document of a pack: the pack and its digest."""
    return {"pack": pack, "digest": _digest(pack)}


def _digest(pack: Data) -> Data:
    sections = {name: _hash(section) for name, section in pack.items()}
    return {"algorithm": ALGORITHM, "hash": _hash(pack), "sections": sections}


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def parse_document(text: str) -> Data:
    """Parse an evidence document from JSON.

    Raises QueryError when the text is not JSON or has no pack or digest.
    """
    try:
        document = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
            object_pairs_hook=_refuse_duplicates,
        )
        canonical_json(document)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"this is no evidence pack: it is not JSON ({error})") from error
    digest = document.get("digest") if isinstance(document, dict) else None
    if not isinstance(digest, dict) or not isinstance(document.get("pack"), dict):
        raise QueryError("this is no evidence pack: the keys `pack` and `digest` are required")
    return dict(document)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not allowed")


def _parse_finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:20]} is too large")
    return value


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> Data:
    """Build an object; refuse a duplicate key, because parsers disagree which value counts."""
    built = dict(pairs)
    if len(built) < len(pairs):
        raise ValueError("an object has a duplicate key")
    return built


def differences(document: Data, *, expected_hash: str = "") -> list[str]:
    """Return the differences between a pack and its digest, in words; empty when they agree.

    `expected_hash` is the hash that was recorded elsewhere when the pack was created.
    """
    pack, digest = document["pack"], document["digest"]
    problems: list[str] = []
    if set(document) != {"pack", "digest"}:
        problems.append("the file has keys other than `pack` and `digest`")
    if digest.get("algorithm") != ALGORITHM:
        problems.append(
            f"the algorithm of the digest is {digest.get('algorithm')!r}, not {ALGORITHM}"
        )
    actual = _digest(pack)
    recorded = digest.get("sections") if isinstance(digest.get("sections"), dict) else {}
    for name in sorted(recorded.keys() | actual["sections"].keys()):
        if name not in actual["sections"]:
            problems.append(f"section {name} is missing, but it is in the digest")
        elif name not in recorded:
            problems.append(f"section {name} is not in the digest")
        elif recorded[name] != actual["sections"][name]:
            problems.append(f"section {name} was changed")
    if digest.get("hash") != actual["hash"]:
        problems.append(f"the hash of the pack is {actual['hash']}, not {digest.get('hash')}")
    if expected_hash and expected_hash.strip().lower() != actual["hash"]:
        problems.append(f"the hash of the pack is {actual['hash']}, expected was {expected_hash}")
    return problems
