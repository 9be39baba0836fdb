"""Who reports a run: the senders of one run id, and the runs that their reports describe.

A restricted key may report any run id, also that of another team's run. `join_runs` keeps the facts
of the senders apart where that matters, and is associative, commutative and idempotent, as every
join of `headwater.schema.facts` is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce

import msgspec

from headwater.schema.facts import RunFacts, Span, join_reports, merged
from headwater.schema.visibility import Visibility


def join_runs(a: RunFacts, b: RunFacts) -> RunFacts:
    """Join facts of one run id; `runs_of_reports` decides which senders report the same run."""
    is_plain = not (a.reports or b.reports or a.is_reference or b.is_reference)
    if is_plain and a.sender == b.sender:
        return join_reports(a, b)
    reports = merged(_reports(a), _reports(b), join_reports)
    if "" in reports and _claims(reports[""]):
        # Nothing comes before an unrestricted key, so the senders that take part always will.
        members = _members(reports, "")
        joined = _joined(reports, members)
        reports = {"": joined} | {key: reports[key] for key in reports.keys() - members}
    if len(reports) == 1:
        return next(iter(reports.values()))
    return msgspec.structs.replace(
        runs_of_reports(reports)[0][1], sender="", is_reference=False, reports=reports
    )


def _reports(run: RunFacts) -> dict[str, RunFacts]:
    """Return the facts of a run by sender; a mere mention of the run has none."""
    if run.reports:
        return run.reports
    return {} if run == RunFacts(run.run_id) else {_report_key(run): run}


def _report_key(run: RunFacts) -> str:
    """Return the sender of facts; for a reference with the namespaces of the jobs that it names."""
    if not run.is_reference:
        return run.sender
    return " ".join((run.sender, *sorted(_named(run)), ""))


def set_sender(run: RunFacts, sender: str, receipts: Span) -> None:
    """Set the restricted key that sent the facts of one event. `sender` is a JSON list."""
    run.sender, run.receipts = sender, receipts
    covers = _visibility(sender).includes
    run.is_reference = run.span is None and not all(map(covers, _named(run)))


def _named(run: RunFacts) -> set[str]:
    return {job.namespace for job in (*run.jobs.values(), *run.named_jobs.values())}


def runs_of_reports(reports: Mapping[str, RunFacts]) -> list[tuple[str, RunFacts]]:
    """Return the runs that the reports of one run id describe, with the sender that began each.

    `reports` has the facts by sender (`RunFacts.reports`). The events of a run *claim* it for the
    namespace of its job. The first claim begins a run: that of an unrestricted key, or else the one
    received first. Senders that cover a claimed namespace take part in the run, with their claims.
    The first claim of the others begins another run. So no key can end, hide or describe a run of
    a team whose namespaces it does not cover (decision 0067).

    A reference counts for the first run, if its sender covers a claimed namespace or it names no
    job in another one.
    """
    if not any(map(_claims, reports.values())):
        return [(min(reports), _joined(reports, reports.keys()))]
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
    """Return the senders that take part in the run that one of them began."""
    members, claimed = {first}, _claims(reports[first])
    count = 0
    while count != len(members):
        count = len(members)
        for sender in reports.keys() - members:
            if _takes_part(reports[sender], claimed):
                members.add(sender)
                claimed |= _claims(reports[sender])
    return members


def _takes_part(run: RunFacts, claimed: set[str]) -> bool:
    """Return True if facts belong to a run that is claimed for jobs in these namespaces."""
    if not run.sender or any(map(_visibility(run.sender).includes, claimed)):
        return True
    return run.is_reference and _named(run) <= claimed


def _claims(run: RunFacts) -> set[str]:
    """Return the namespaces for whose jobs these facts claim a run."""
    return set() if run.is_reference else {job.namespace for job in run.jobs.values()}


@lru_cache(maxsize=1_000)
def _visibility(sender: str) -> Visibility:
    return Visibility(tuple(msgspec.json.decode(sender, type=list[str])))


def _joined(reports: Mapping[str, RunFacts], senders: Iterable[str]) -> RunFacts:
    """Return the facts of these senders together."""
    return reduce(join_reports, [reports[sender] for sender in sorted(senders)])
