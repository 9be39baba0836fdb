"""Who reports a run: the claims of one run id, and the runs that they describe.

A restricted key may report any run id, also that of another team's run. `join_runs` keeps apart
what such keys report for the jobs of different namespaces, and is associative, commutative and
idempotent, as every join of `headwater.schema.facts` is.

`RunFacts.sender` says whose facts they are:

| sender | facts |
|---|---|
| empty | of unrestricted keys, whatever they say |
| `=NAMESPACE` | of events of the run itself by restricted keys: a claim for this namespace |
| a JSON list | of other events by a restricted key, such as a parent facet: its namespaces |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce

import msgspec

from headwater.schema.facts import RunFacts, join_reports, merged
from headwater.schema.visibility import Visibility


def claim_of(namespace: str) -> str:
    """Return the sender of a claim by a restricted key for a job of this namespace."""
    return f"={namespace}"


def join_runs(a: RunFacts, b: RunFacts) -> RunFacts:
    """Join facts of one run id; `runs_of_reports` decides which reports are of the same run."""
    if a.sender == b.sender and not a.reports and not b.reports:
        return join_reports(a, b)
    reports = merged(_reports(a), _reports(b), join_reports)
    if "" in reports and _claims(reports[""]):
        # Nothing comes before an unrestricted key, so what takes part in its run always will.
        members = _members(reports, "")
        joined = _joined(reports, members)
        reports = {"": joined} | {key: reports[key] for key in reports.keys() - members}
    if len(reports) == 1:
        return next(iter(reports.values()))
    first = runs_of_reports(reports)[0][1]
    return msgspec.structs.replace(first, sender="", reports=reports)


def _reports(run: RunFacts) -> dict[str, RunFacts]:
    """Return the facts of a run by sender; a mere mention of the run has none."""
    if run.reports:
        return run.reports
    return {} if run == RunFacts(run.run_id) else {run.sender: run}


def runs_of_reports(reports: Mapping[str, RunFacts]) -> list[tuple[str, RunFacts]]:
    """Return the runs that the reports of one run id describe, with the sender that began each.

    `reports` has the facts by sender. The first claim begins a run: that of an unrestricted key, or
    else the one received first. Claims for jobs of the same namespace belong to the same run, and
    so do references by keys that cover a namespace of its jobs. The first claim of another
    namespace begins another run. A reference gives a claimed run no job. So no key can end, hide or
    describe a run of a team whose namespaces it does not cover (decision 0067).
    """
    if not any(map(_claims, reports.values())):
        return [(min(reports), reduce(join_reports, [run for _, run in sorted(reports.items())]))]
    runs = []
    left = dict(reports)
    while claims := [(_began(run), key) for key, run in left.items() if _claims(run)]:
        first = min(claims)[1]
        members = _members(left, first)
        runs.append((first, _joined(left, members)))
        left = {key: run for key, run in left.items() if key not in members}
    return runs


def _began(run: RunFacts) -> int:
    """Return the earliest receipt of a restricted key, 0 for an unrestricted one."""
    return run.receipts.first if run.sender and run.receipts else 0


def _members(reports: Mapping[str, RunFacts], first: str) -> set[str]:
    """Return the senders whose facts belong to the run that one of them began."""
    claimed = _claims(reports[first])
    return {sender for sender in reports if _takes_part(sender, claimed)}


def _takes_part(sender: str, claimed: set[str]) -> bool:
    """Return True if facts of a sender belong to a run of jobs in the `claimed` namespaces."""
    if _is_reference(sender):
        return any(map(_visibility(sender).includes, claimed))
    return not sender or sender[1:] in claimed


def _is_reference(sender: str) -> bool:
    """Return True for the sender of a restricted key's facts in events of other runs."""
    return sender.startswith("[")


def _claims(run: RunFacts) -> set[str]:
    """Return the namespaces for whose jobs these facts claim a run."""
    if run.sender:
        return set() if _is_reference(run.sender) else {run.sender[1:]}
    return {job.namespace for job in run.jobs.values()}


@lru_cache(maxsize=1_000)
def _visibility(sender: str) -> Visibility:
    return Visibility(tuple(msgspec.json.decode(sender, type=list[str])))


def _joined(reports: Mapping[str, RunFacts], senders: Iterable[str]) -> RunFacts:
    """Return the facts of these senders together, with the jobs of the claims alone."""
    found = []
    for sender in sorted(senders):
        run = reports[sender]
        if _is_reference(sender):
            run = msgspec.structs.replace(run, jobs={}, named_jobs={})
        found.append(run)
    return reduce(join_reports, found)
