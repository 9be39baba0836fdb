"""Who reports a run: the claims of one run id, and the runs that they describe.

A restricted key may report any run id, also that of another team's run. `join_runs` keeps apart
what such keys report for the jobs of different namespaces, and is associative, commutative and
idempotent, as every join of `headwater.schema.facts` is.

`RunFacts.sender` says whose facts they are:

| sender | facts |
|---|---|
| empty | of unrestricted keys, with the job of the run: a claim for all that they name |
| `=NAMESPACE` | of restricted keys that cover this namespace of its job: a claim |
| a JSON list | without a job: what the key covers; `[]` if it may only name the run |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce

import msgspec

from headwater.schema.facts import RunFacts, join_reports, merged
from headwater.schema.urns import shared_run_id
from headwater.schema.visibility import Visibility

# Senders of facts without a job: of unrestricted keys, and of keys that may only name the run.
ANY_KEY = '["*"]'
REFERENCES = "[]"


def claim_of(namespace: str) -> str:
    """Return the sender of a claim by a restricted key for a job of this namespace."""
    return f"={namespace}"


def join_runs(a: RunFacts, b: RunFacts) -> RunFacts:
    """Join facts of one run id; `runs_of_reports` decides which reports are of the same run."""
    if a.sender == b.sender and not a.reports and not b.reports:
        return join_reports(a, b)
    reports = merged(_reports(a), _reports(b), join_reports)
    # What unrestricted keys claim only grows, so what belongs to it always will.
    owned = {"", *map(claim_of, _claims(reports[""]))} & reports.keys() if "" in reports else set()
    if len(owned) > 1:
        joined = _joined(reports, owned)
        reports = {"": joined} | {key: reports[key] for key in reports.keys() - owned}
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
    """Return the runs that the reports of one run id describe, with the claim of each.

    `reports` has the facts by sender. Each claim is a run. The first has the run id: that of
    unrestricted keys, or else the one received first. Facts without a job are of every run whose
    job their key covers. A job that no claim covers has a run without facts. So no key can end,
    hide or describe a run of a team whose namespaces it does not cover (decision 0067).
    """
    claims = [key for key in reports if not _is_reference(key)]
    if not claims:
        return [(min(reports), _joined(reports, reports))]
    others = sorted(reports.keys() - set(claims))
    runs, claimed = [], set[str]()
    for claim in sorted(claims, key=lambda key: (_began(reports[key]), key)):
        namespaces = _claims(reports[claim])
        claimed |= namespaces
        members = [key for key in others if any(map(namespaces_of(key).includes, namespaces))]
        runs.append((claim, _joined(reports, [claim, *members])))
    run_id = runs[0][1].run_id
    named = {namespace for key in others for namespace in _claims(reports[key])}
    runs += [(claim_of(one), RunFacts(run_id)) for one in sorted(named - claimed)]
    return runs


def run_ids_by_namespace(run: RunFacts) -> dict[str, str]:
    """Return which run an event means by a run id, by the namespace of the job that it names.

    An empty dict means the run with that id in any case.
    """
    found: dict[str, str] = {}
    runs = runs_of_reports(run.reports) if run.reports else []
    if not runs or _is_reference(runs[0][0]):
        return found
    for index, (claim, _) in enumerate(runs):
        run_id = shared_run_id(run.run_id, claim) if index else run.run_id
        found |= dict.fromkeys({claim[1:]} if claim else _claims(run.reports[claim]), run_id)
    return found


def _began(run: RunFacts) -> int:
    """Return the earliest receipt of a restricted key, 0 for an unrestricted one."""
    return run.receipts.first if run.sender and run.receipts else 0


def _is_reference(sender: str) -> bool:
    """Return True for the sender of facts that are no claim."""
    return sender.startswith("[")


def _claims(run: RunFacts) -> set[str]:
    """Return the namespaces for whose jobs these facts claim, or name, a run."""
    if run.sender.startswith("="):
        return {run.sender[1:]}
    jobs = (*run.jobs.values(), *run.named_jobs.values())
    return run.namespaces | {job.namespace for job in jobs}


@lru_cache(maxsize=1_000)
def namespaces_of(sender: str) -> Visibility:
    """Return the namespaces that a restricted key covers, from a JSON list of their patterns."""
    return Visibility(tuple(msgspec.json.decode(sender, type=list[str])))


def _joined(reports: Mapping[str, RunFacts], senders: Iterable[str]) -> RunFacts:
    return reduce(join_reports, [reports[sender] for sender in sorted(senders)])
