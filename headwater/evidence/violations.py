"""The violations in an evidence pack.

These are runs, tests and checks that failed, schemas that drifted, and incomplete versions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.evidence.digest import Data

_UNSUCCESSFUL = {"FAIL": "FAILED_RUN", "ABORT": "ABORTED_RUN", "ABANDONED": "ABANDONED_RUN"}


def find_violations(
    runs: Iterable[Row], versions: Iterable[Row], checks: Iterable[Data]
) -> list[Data]:
    """Return one entry (`kind`, `urn`, `at`, `detail`) for each violation, by kind and urn."""
    found: list[Data] = []
    for run in runs:
        found += _of_run(run)
    for version in versions:
        found += _of_version(version)
    found += [_of_check(check) for check in checks if not check["success"]]
    return sorted(found, key=lambda entry: (entry["kind"], entry["urn"], entry["detail"]))


def _entry(kind: str, urn: str, at: Any, detail: str) -> Data:
    return {"kind": kind, "urn": urn, "at": at, "detail": detail}


def _of_check(check: Data) -> Data:
    detail = check["name"]
    if check["column"]:
        detail += f" of {check['column']}"
    if check["actual"] and check["expected"]:
        detail += f": {check['actual']}, not {check['expected']}"
    return _entry("FAILED_CHECK", check["urn"], check["reportedAt"], detail)


def _of_run(run: Row) -> list[Data]:
    at = run.get("failedAt") or run.get("finishedAt") or run.get("startedAt")
    found = []
    kind = _UNSUCCESSFUL.get(run.get("status") or "")
    if kind:
        found.append(_entry(kind, run["urn"], at, run.get("error") or "no reason was sent"))
    if run.get("testsFailed") or run.get("failedTests"):
        names = ", ".join(run.get("failedTests") or ())
        detail = names or f"{run.get('testsFailed')} tests"
        found.append(_entry("FAILED_TESTS", run["urn"], at, detail))
    return found


def _of_version(version: Row) -> list[Data]:
    at = version.get("createdAt") or version.get("capturedAt")
    found = []
    if version.get("drift"):
        found.append(_entry("SCHEMA_DRIFT", version["urn"], at, "; ".join(version["drift"])))
    if version.get("complete") is False:
        status = version.get("status") or "not complete"
        found.append(_entry("PARTIAL_VERSION", version["urn"], at, f"its run is {status}"))
    return found
