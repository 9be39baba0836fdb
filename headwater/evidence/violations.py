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
    violations: list[Data] = []
    for run in runs:
        violations += _of_run(run)
    for version in versions:
        violations += _of_version(version)
    violations += [_of_check(check) for check in checks if not check["success"]]
    return sorted(violations, key=lambda entry: (entry["kind"], entry["urn"], entry["detail"]))


def _entry(kind: str, urn: str, instant: Any, detail: str) -> Data:
    return {"kind": kind, "urn": urn, "at": instant, "detail": detail}


def _of_check(check: Data) -> Data:
    detail = check["name"]
    if check["column"]:
        detail += f" of {check['column']}"
    if check["actual"] and check["expected"]:
        detail += f": {check['actual']}, not {check['expected']}"
    return _entry("FAILED_CHECK", check["urn"], check["reportedAt"], detail)


def _of_run(run: Row) -> list[Data]:
    instant = run.get("failedAt") or run.get("finishedAt") or run.get("startedAt")
    violations = []
    kind = _UNSUCCESSFUL.get(run.get("status") or "")
    if kind:
        violations.append(
            _entry(kind, run["urn"], instant, run.get("error") or "no reason was sent")
        )
    if run.get("testsFailed") or run.get("failedTests"):
        names = ", ".join(run.get("failedTests") or ())
        detail = names or f"{run.get('testsFailed')} tests"
        violations.append(_entry("FAILED_TESTS", run["urn"], instant, detail))
    return violations


def _of_version(version: Row) -> list[Data]:
    instant = version.get("createdAt") or version.get("capturedAt")
    violations = []
    if version.get("drift"):
        violations.append(
            _entry("SCHEMA_DRIFT", version["urn"], instant, "; ".join(version["drift"]))
        )
    if version.get("complete") is False:
        status = version.get("status") or "not complete"
        violations.append(
            _entry("PARTIAL_VERSION", version["urn"], instant, f"its run is {status}")
        )
    return violations
