"""Downstream code that the same branch changes together with a table, so that it does not break.

The graph knows code as it last ran. If a branch drops a column and changes its reader too, the
code in the branch
counts: when it no longer names the column, the break becomes a warning. It stays a warning,
because a missing word proves less than a reference.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from headwater.code_analysis.model import CODE, FILLED, MODEL, SEED, VIEW
from headwater.gate.resolve_datasets import DatasetChange
from headwater.gate.verdict import WARNING, Affected

# Tables that a branch changes by changing the code that makes them: that code is not affected.
_WRITTEN_BY_CODE = {MODEL, SEED, VIEW, FILLED, CODE}


class BranchFixes:
    """The texts in the branch of the code that makes the changed datasets."""

    def __init__(
        self, changes: Iterable[DatasetChange], texts: Mapping[str | None, str | None]
    ) -> None:
        self._texts: dict[str, set[str]] = defaultdict(set)
        for change in changes:
            text = texts.get(change.source.file)
            if change.source.kind in _WRITTEN_BY_CODE and text is not None:
                self._texts[change.urn].add(text)

    def apply(self, change: DatasetChange, affected: Iterable[Affected]) -> tuple[Affected, ...]:
        """Return the affected assets without producers of the dataset; fixed ones are warnings."""
        remaining = []
        is_written_by_code = change.source.kind in _WRITTEN_BY_CODE
        for asset in affected:
            if is_written_by_code and asset.urn in change.producers:
                continue
            words = _removed_words(change, asset)
            if asset.severity != WARNING and words and self._is_fixed(asset, words):
                names = ", ".join(sorted(words))
                evidence = f"the branch changes it too, and no longer names {names} there"
                asset = replace(asset, severity=WARNING, evidence=(evidence, *asset.evidence))
            remaining.append(asset)
        return tuple(remaining)

    def _is_fixed(self, asset: Affected, words: set[str]) -> bool:
        """Return True if the branch changes all output code, and none has a word or a `*`."""
        texts: list[str] = []
        for urn in asset.outputs:
            if urn not in self._texts:
                return False
            texts += self._texts[urn]
        if not texts:
            return False
        alternatives = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words)
        pattern = re.compile(alternatives, re.IGNORECASE)
        return not any(pattern.search(text) or "*" in text for text in texts)


def _removed_words(change: DatasetChange, asset: Affected) -> set[str]:
    """Return the names that the code must no longer have; none if no name can show the fix."""
    planned = change.change
    if planned["type"] in {"column_drop", "column_rename"}:
        column = planned.get("column") or planned["from"]
        return {column, *asset.references}
    if planned["type"] in {"table_drop", "table_rename", "job_delete"}:
        return {re.split(r"[./]", change.source.table)[-1]}
    return set()
