"""Which other names of datasets are in use: runs, jobs, datasets or answers refer to them.

Most other names come from a catalog, and no event uses them. If such a name leaves its dataset, the
edges, versions and links of the dataset stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.cypher.driver.database import Transaction
from headwater.ingest.write.lineage_edges import dataset_of
from headwater.ingest.write.rows import read_facts
from headwater.ingest.write.version_links import named_datasets
from headwater.schema.facts import AnswerFacts, RunFacts
from headwater.schema.naming import Naming


def used_aliases(transaction: Transaction, aliases: Mapping[str, str], naming: Naming) -> set[str]:
    """Return the aliases that are in use. `aliases` has the urn of the dataset of each."""
    if not aliases:
        return set()
    used = aliases.keys() & _names_on_edges(transaction, set(aliases.values()))
    others = {dataset for alias, dataset in aliases.items() if alias not in used}
    if others:
        used |= aliases.keys() & _names_of_consumers(transaction, others, naming)
    return used


def _names_on_edges(transaction: Transaction, datasets: set[str]) -> set[str]:
    """Return the datasets that the edges of these datasets name."""
    rows = transaction.run("read/write_path/reported_ends", urns=sorted(datasets))
    ends: list[str] = []
    for row in rows:
        ends += row["reportedUrns"].split(" ")
    return set(map(dataset_of, ends))


def _names_of_consumers(transaction: Transaction, datasets: set[str], naming: Naming) -> set[str]:
    """Return the datasets that answers, and runs without edges of a job, name."""
    rows = transaction.run("read/write_path/consumers_without_ends", urns=sorted(datasets))
    urns = [row["urn"] for row in rows]
    runs = [urn for urn in urns if urn.startswith("run:")]
    answers = [urn for urn in urns if urn.startswith("answer:")]
    run_facts = read_facts(transaction, "runs", RunFacts, runs, {})
    answer_facts = read_facts(transaction, "answers", AnswerFacts, answers, {})
    return named_datasets(run_facts.values(), answer_facts.values(), naming)
