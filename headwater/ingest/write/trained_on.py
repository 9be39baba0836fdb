"""Which datasets each model was trained on: TRAINED_ON edges, from the current edges of its jobs.

The cache has the models of the graph and the jobs that write them, so a batch that touches none of
them runs no statement.
"""

from __future__ import annotations

from headwater.ingest.write.context import WriteContext
from headwater.schema.graph import WRITES


def update_trained_on(context: WriteContext) -> None:
    """Recompute the training data of the models whose jobs this batch touched."""
    known, transaction = context.cache.models, context.transaction
    if not known.is_read:
        for row in transaction.run("read/write_path/models"):
            known.add(row["model"], row["jobs"])
        known.is_read = True
    models = set(context.datasets.relabelled)
    for (_, side), datasets in context.written_edges.items():
        if side == WRITES and known.models:
            models |= datasets & known.models
    jobs = _touched_jobs(context) & known.jobs if known.jobs else set()
    if not jobs and not models:
        return
    parameters = {"jobs": sorted(jobs), "datasets": sorted(models)}
    for row in transaction.run("write/lineage/trained_on", **parameters):
        if row["isModel"]:
            known.add(row["model"], row["jobs"])
        else:
            known.models.discard(row["model"])


def _touched_jobs(context: WriteContext) -> set[str]:
    """Return the jobs with changed runs, edges or derivations."""
    jobs = context.redeclared_jobs | {key.job for key in context.delta.derivations}
    jobs.update(job for job, _ in context.written_edges)
    for old, new in context.run_views.values():
        jobs.update(view.job for view in (old, new) if view is not None and view.job)
    return jobs
