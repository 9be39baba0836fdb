"""The seal of an evidence pack: a hash of all that it says, and of each of its sections.

What is hashed is the pack as *canonical JSON*: keys sorted by code point, no spaces, everything outside ASCII written
as \\uXXXX, numbers as Python's `json` writes them. The document around it is

    {"pack": {...}, "seal": {"algorithm": "SHA-256", "hash": "...", "sections": {"runs": "...", ...}}}

The hash tells whether a pack is the one whose hash was noted down when it was made: note it elsewhere, since whoever
can change a file can also seal it anew. The hashes of the sections tell where two packs differ.
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


def plain(value: Any) -> Any:
    """A value as JSON has it: times as ISO 8601 in UTC, what is no number to JSON as text."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def canonical(value: Any) -> bytes:
    """The one spelling that is hashed."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def sealed(pack: Data) -> Data:
    """The pack with its seal."""
    return {"pack": pack, "seal": _seal(pack)}


def _seal(pack: Data) -> Data:
    sections = {name: _hash(section) for name, section in pack.items()}
    return {"algorithm": ALGORITHM, "hash": _hash(pack), "sections": sections}


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def read(text: str) -> Data:
    """A sealed document from its JSON. Raises QueryError when it is none."""
    try:
        document = json.loads(
            text, parse_constant=_refused, parse_float=_finite, object_pairs_hook=_once
        )
        canonical(document)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"this is no evidence pack: it is not JSON ({error})") from error
    seal = document.get("seal") if isinstance(document, dict) else None
    if not isinstance(seal, dict) or not isinstance(document.get("pack"), dict):
        raise QueryError("this is no evidence pack: it has no pack and seal")
    return dict(document)


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:20]} is too large")
    return value


def _once(pairs: list[tuple[str, Any]]) -> Data:
    """Of two values by one name, some read the first and some the last: then nobody knows what was sealed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def differences(document: Data, *, noted: str = "") -> list[str]:
    """What is not as it was sealed, in words; `noted` is the hash that was written down when it was made."""
    pack, seal = document["pack"], document["seal"]
    found = (
        []
        if set(document) == {"pack", "seal"}
        else ["there is more in the file than a pack and its seal"]
    )
    if seal.get("algorithm") != ALGORITHM:
        found.append(f"the seal is not a {ALGORITHM}: {seal.get('algorithm')!r}")
    now = _seal(pack)
    then = seal.get("sections") if isinstance(seal.get("sections"), dict) else {}
    for name in sorted(then.keys() | now["sections"].keys()):
        if name not in now["sections"]:
            found.append(f"{name} was sealed and is gone")
        elif name not in then:
            found.append(f"{name} is there and was not sealed")
        elif then[name] != now["sections"][name]:
            found.append(f"{name} is not as it was sealed")
    if seal.get("hash") != now["hash"]:
        found.append(f"the hash of the pack is {now['hash']}, sealed was {seal.get('hash')}")
    if noted and noted.strip().lower() != now["hash"]:
        found.append(f"the hash of the pack is {now['hash']}, noted was {noted}")
    return found
