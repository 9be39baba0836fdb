"""Who reports a run: the claims of one run id, and the runs that they describe.

A restricted key may report any run id, also that of another team's run. `join_runs` keeps apart
what such keys report for the jobs of different namespaces, and is associative, commutative and
idempotent, as every join of `headwater.schema.facts` is.

`RunFacts.sender` says whose facts they are:

| sender | facts |
|---|---|
| empty | of unrestricted keys, with the job of the run: a claim for all that they name |
| `=NAMESPACE` | of restricted keys that cover this namespace of its job: a claim |
| `~NAMESPACE` | of restricted keys that may only name the run: no facts but the receipts |
| a JSON list | without a job: of a key that covers these namespaces |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import msgspec

from headwater.schema.facts import RunFacts, join_reports, merged
from headwater.schema.urns import shared_run_id
from headwater.schema.visibility import namespaces_of


def claim_of(namespace: str) -> str:
    """Return the sender of a claim by a restricted key for a job of this namespace."""
    return f"={namespace}"


def reference_to(namespace: str) -> str:
    """Return the sender of facts that only name a run, of a job of this namespace."""
    return f"~{namespace}"


def join_runs(a: RunFacts, b: RunFacts) -> RunFacts:
    """Join facts of one run id; `runs_of_reports` decides which reports are of the same run.

    If they are of several senders, the fields beside `reports` hold all facts, until `settled`.
    """
    if a.sender == b.sender and not a.reports and not b.reports:
        return join_reports(a, b)
    reports = _merged(_reports(a), _reports(b))
    if len(reports) == 1:
        return next(iter(reports.values()))
    return msgspec.structs.replace(join_reports(a, b), sender="", reports=reports)


def _merged(a: dict[str, RunFacts], b: dict[str, RunFacts]) -> dict[str, RunFacts]:
    """Return the reports of both. What belongs together now always will: claims only grow."""
    reports = dict(merged(a, b, join_reports))
    owned = _claims(reports[""]) if "" in reports else set[str]()
    # Only what unrestricted keys claim can concern more than the senders of the smaller side.
    smaller = {sender[1:] for sender in min(a, b, key=len) if not sender.startswith("[")}
    for namespace in owned | smaller:
        claim, reference = claim_of(namespace), reference_to(namespace)
        into = "" if namespace in owned else claim
        for sender in (claim, reference):
            if into != sender and into in reports and sender in reports:
                reports[into] = join_reports(reports[into], reports.pop(sender))
    return reports


def settled(run: RunFacts) -> RunFacts:
    """Return facts as the graph has them: beside `reports`, only those of the first run."""
    if not run.reports:
        return run
    first = runs_of_reports(run.reports)[0][1]
    return msgspec.structs.replace(first, sender="", reports=run.reports)


def _reports(run: RunFacts) -> dict[str, RunFacts]:
    """Return the facts of a run by sender; a mere mention of the run has none."""
    if run.reports:
        return run.reports
    return {} if run == RunFacts(run.run_id) else {run.sender: run}


def runs_of_reports(reports: Mapping[str, RunFacts]) -> list[tuple[str, RunFacts]]:
    """Return the runs that the reports of one run id describe, with the claim of each.

    `reports` has the facts by sender. Each namespace of a job that is claimed or named is a run.
    The first has the run id: that of unrestricted keys, or else the one received first. Facts
    without a job are of every run whose job their key covers. So no key can end, hide or describe a
    run of a team whose namespaces it does not cover (decision 0067).
    """
    senders = [sender for sender in reports if not sender.startswith("[")]
    if not senders:
        return [(min(reports), _joined(reports, sorted(reports)))]
    without_job = sorted(reports.keys() - set(senders))
    runs = []
    for sender in sorted(senders, key=lambda sender: (_began(reports[sender]), sender[1:])):
        run = reports[sender]
        members = [
            key for key in without_job if any(map(namespaces_of(key).includes, _claims(run)))
        ]
        joined = _joined(reports, [sender, *members]) if members else run
        runs.append((claim_of(sender[1:]) if sender else "", joined))
    return runs


def runs_of(run: RunFacts) -> list[tuple[str, RunFacts]]:
    """Return the runs of `runs_of_reports`, also for facts of one sender; none for a mention."""
    reports = _reports(run)
    return runs_of_reports(reports) if reports else []


def run_ids_by_namespace(runs: list[tuple[str, RunFacts]]) -> dict[str, str]:
    """Return which run an event means by a run id, by the namespace of the job that it names.

    `runs` are those of `runs_of`.
    """
    found: dict[str, str] = {}
    for index, (claim, run) in enumerate(runs):
        run_id = shared_run_id(run.run_id, claim) if index else run.run_id
        found |= dict.fromkeys(_claims(run), run_id)
    return found


def _began(run: RunFacts) -> int:
    """Return the earliest receipt of a restricted key, 0 for an unrestricted one."""
    return run.receipts.first if run.sender and run.receipts else 0


def _claims(run: RunFacts) -> set[str]:
    """Return the namespaces for whose jobs these facts claim, or name, a run."""
    if run.sender[:1] in ("=", "~"):
        return {run.sender[1:]}
    return {job.namespace for job in (*run.jobs.values(), *run.named_jobs.values())}


def _joined(reports: Mapping[str, RunFacts], senders: Iterable[str]) -> RunFacts:
    return reduce(join_reports, [reports[sender] for sender in senders])
