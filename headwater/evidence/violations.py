"""What went against what was promised: runs, tests and checks that failed, schemas that drifted, partial versions."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.cypher.driver.database import Row
from headwater.evidence.digest import Data

_NO_SUCCESS = {"FAIL": "FAILED_RUN", "ABORT": "ABORTED_RUN", "ABANDONED": "ABANDONED_RUN"}


def violations(runs: Iterable[Row], versions: Iterable[Row], checks: Iterable[Data]) -> list[Data]:
    """One entry for each, by kind and urn: `kind`, `urn`, `at`, `what`."""
    found = [one for run in runs for one in _of_run(run)] + [
        one for row in versions for one in _of_version(row)
    ]
    found += [_of_check(check) for check in checks if not check["success"]]
    return sorted(found, key=lambda one: (one["kind"], one["urn"], one["what"]))


def _of_check(check: Data) -> Data:
    what = check["name"] + (f" of {check['column']}" if check["column"] else "")
    found = (
        f": {check['actual']}, not {check['expected']}"
        if check["actual"] and check["expected"]
        else ""
    )
    return {"kind": "FAILED_CHECK", "urn": check["urn"], "at": check["at"], "what": what + found}


def _of_run(run: Row) -> list[Data]:
    when = run.get("failedAt") or run.get("finishedAt") or run.get("startedAt")
    found = []
    kind = _NO_SUCCESS.get(run.get("status") or "")
    if kind:
        found.append(
            {
                "kind": kind,
                "urn": run["urn"],
                "at": when,
                "what": run.get("error") or "no reason was sent",
            }
        )
    if run.get("testsFailed") or run.get("failedTests"):
        named = ", ".join(run.get("failedTests") or ()) or f"{run.get('testsFailed')} tests"
        found.append({"kind": "FAILED_TESTS", "urn": run["urn"], "at": when, "what": named})
    return found


def _of_version(row: Row) -> list[Data]:
    when = row.get("createdAt") or row.get("capturedAt")
    found = []
    if row.get("drift"):
        found.append(
            {"kind": "SCHEMA_DRIFT", "urn": row["urn"], "at": when, "what": "; ".join(row["drift"])}
        )
    if row.get("complete") is False:
        status = row.get("status") or "not complete"
        found.append(
            {
                "kind": "PARTIAL_VERSION",
                "urn": row["urn"],
                "at": when,
                "what": f"its run is {status}",
            }
        )
    return found
