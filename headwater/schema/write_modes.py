"""Write modes: whether a write keeps the content that a dataset had before, or replaces it.

The events of a run give evidence, each piece a word. The strongest word decides:

1. `keeps`: the write certainly keeps content: a MERGE, one partition, an incremental model.
2. `replaces`: the write replaces the whole content: an OVERWRITE, a TRUNCATE, a table model.
3. `appends`, `overwrites`: the producer reports nothing, and this is what its silence means.

Without evidence the mode is unknown. The writer then compares the write with the one before it
(`headwater.ingest.write.kept_content`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

KEEPS, REPLACES, APPENDS, OVERWRITES = "keeps", "replaces", "appends", "overwrites"
# The values of `writeMode` of a version.
APPEND, OVERWRITE = "append", "overwrite"
_HASH_CHARACTERS = 16


def write_mode(evidence: Collection[str]) -> str | None:
    """Return the write mode that the evidence proves; None if it is unknown."""
    if KEEPS in evidence:
        return APPEND
    if REPLACES in evidence:
        return OVERWRITE
    if APPENDS in evidence:
        return APPEND
    return OVERWRITE if OVERWRITES in evidence else None


def inputs_hash(job: str, datasets: Iterable[str]) -> str:
    """Return the hash that all writes of a job share that read the same datasets."""
    text = "\n".join((job, *sorted(datasets)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARACTERS]
