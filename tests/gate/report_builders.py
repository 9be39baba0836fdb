"""Reports of the gate, also with names that try to break out of their markup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headwater.code_analysis.model import MODEL, TableChange
from headwater.gate.changes import Problem
from headwater.gate.resolve_datasets import DatasetChange
from headwater.gate.verdict import (
    BREAKING,
    WARNING,
    Affected,
    AssessedChange,
    Report,
)

EVIL = (
    "a`b``|c\n::error::x\r##[add-mask]x <img src=x onerror=alert(1)> [y](http://evil)"
    " @everyone 100%,"
    "\u202e\x00\x1b[31m\ud800"
)


def affected(name: str, severity: str = BREAKING, *, certified: bool = False) -> Affected:
    return Affected(
        f"job:etl:{name}",
        "JOB",
        name,
        severity,
        ("amount",),
        ("its SQL line 3: amount",),
        certified,
        ("team",),
    )


def judged(
    *downstream: Affected, name: str = "orders", file: str = "models/orders.sql", **change: Any
) -> AssessedChange:
    planned = {"type": "column_drop", "column": "amount", **change}
    source = TableChange(name, MODEL, planned, file, 7)
    return AssessedChange(DatasetChange(source, f"dataset:db:{name}", planned), downstream)


PASSED = Report(
    "main", files=("models/orders.sql",), assessed=(judged(affected("board", WARNING)),)
)


FAILED = replace(
    PASSED,
    assessed=(judged(affected("board"), affected("board", WARNING), affected("other", WARNING)),),
)


BLOCKED = replace(PASSED, problems=(Problem("models/x.sql", "it cannot be read", 3),))


HARMED = Report(
    EVIL,
    assessed=(
        judged(affected(EVIL), name=EVIL, file=f"models/{EVIL}.sql", column=EVIL, description=EVIL),
    ),
    problems=(Problem(EVIL, EVIL, 1),),
    new_tables=(EVIL,),
    allow_reason=EVIL,
)
