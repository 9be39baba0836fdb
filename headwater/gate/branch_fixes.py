"""What the same branch changes along with a change, so that it does not break.

The graph knows code as it last ran. Where a branch takes a column away and changes what reads it too, the code in the
branch counts: when it no longer names what goes, that it did is no longer a break. It stays a warning, since a word
that is not there proves less than a reference that is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from headwater.code_analysis.tables import CODE, FILLED, MODEL, SEED, VIEW
from headwater.gate.resolve_datasets import DatasetChange
from headwater.gate.verdict import BREAKING, WARNING, Affected

# What a branch changes by changing the code that makes it: then that code need not be told.
_BY_CODE = {MODEL, SEED, VIEW, FILLED, CODE}


class BranchFixes:
    """The texts in the branch of what makes the datasets that it changes."""

    def __init__(
        self, asked: Iterable[DatasetChange], texts: Mapping[str | None, str | None]
    ) -> None:
        self._texts: dict[str, set[str]] = defaultdict(set)
        for one in asked:
            text = texts.get(one.delta.file)
            if one.delta.made_by in _BY_CODE and text is not None:
                self._texts[one.urn].add(text)

    def apply(self, asked: DatasetChange, affected: Iterable[Affected]) -> tuple[Affected, ...]:
        """What is affected without what makes the dataset itself, and with what is resolved as a warning."""
        found = []
        for one in affected:
            if asked.delta.made_by in _BY_CODE and one.urn in asked.makers:
                continue
            words = _words(asked, one)
            if one.severity == BREAKING and words and self._is_mended(one, words):
                said = f"the branch changes it too, and no longer names {', '.join(sorted(words))} there"
                one = replace(one, severity=WARNING, evidence=(said, *one.evidence))
            found.append(one)
        return tuple(found)

    def _is_mended(self, one: Affected, words: set[str]) -> bool:
        texts = [text for urn in one.outputs for text in self._texts.get(urn, ())]
        if not texts or not all(urn in self._texts for urn in one.outputs):
            return False
        named = re.compile(
            "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE
        )
        return not any(named.search(text) or "*" in text for text in texts)


def _words(asked: DatasetChange, one: Affected) -> set[str]:
    """What its code must no longer name; nothing where no word tells."""
    change = asked.change
    if change["type"] in {"column_drop", "column_rename"}:
        gone = change.get("column") or change["from"]
        return {gone, *one.references}
    if change["type"] in {"table_drop", "table_rename", "job_delete"}:
        return {re.split(r"[./]", asked.delta.relation)[-1]}
    return set()
