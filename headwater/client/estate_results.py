"""Answers about the whole estate and about repair: usage, coverage, owners, replay, evidence."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.client import frames
from headwater.client.records import Record, Ref

if TYPE_CHECKING:
    import pandas

_CONSUMER_COLUMNS = ("job", "owners", "runs", "last_read_at", "rows", "bytes", "seconds")
_RERUN_COLUMNS = ("step", "run", "job", "owners", "superseded", "in_cycle")
_COVERAGE_COLUMNS = ("namespace", "datasets", "connected", "jobs", "owned_datasets", "owned_jobs")


class Owner(Record, frozen=True, kw_only=True):
    """An owner with the number of their datasets and jobs."""

    name: str
    datasets: int
    jobs: int


class UnusedDataset(Record, frozen=True, kw_only=True):
    """A dataset without recent reads. `bytes` is None if no run reported its size."""

    dataset: Ref
    bytes: int | None = None
    last_read_at: datetime | None = None


class Consumer(Record, frozen=True, kw_only=True):
    """A job that read a dataset: its runs in the window, and their cost in seconds."""

    job: Ref
    owners: tuple[str, ...]
    runs: int
    seconds: float
    last_read_at: datetime | None = None
    rows: int | None = None
    bytes: int | None = None


class Charge(Record, frozen=True, kw_only=True):
    """The share of an owner in the cost of a dataset. `owner` is None for jobs without one."""

    jobs: int
    seconds: float
    owner: str | None = None


class Usage(Record, frozen=True, kw_only=True):
    """The readers of a dataset in a window, and the answers that cite it."""

    dataset: str
    since: datetime
    until: datetime
    consumers: tuple[Consumer, ...]
    chargeback: tuple[Charge, ...]
    answers: tuple[Ref, ...]
    truncated: bool = False

    def __repr__(self) -> str:
        return f"<Usage of {self.dataset}: {len(self.consumers)} jobs, {len(self.answers)} answers>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the consumers as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self.consumers, Consumer)

    def _repr_html_(self) -> str:
        return frames.html_table(self.consumers, _CONSUMER_COLUMNS, caption=repr(self))


class Shares(Record, frozen=True, kw_only=True):
    """Shares between 0 and 1; None if there is nothing to take a share of."""

    lineage: float | None = None
    datasets: float | None = None
    jobs: float | None = None
    column_lineage: float | None = None
    owned: float | None = None
    described: float | None = None
    schema: float | None = None
    ended: float | None = None
    reported: float | None = None


class CoverageCounts(Record, frozen=True, kw_only=True):
    """The numbers of datasets, jobs and runs with lineage, and of those without.

    `connected` datasets are read or written by a job, `produced` ones have a known producer.
    `unknown_downstreams` counts produced datasets that nothing read or cited.
    """

    datasets: int
    connected: int
    produced: int
    with_column_lineage: int
    unknown_downstreams: int
    owned_datasets: int
    described_datasets: int
    with_schema: int
    jobs: int
    with_inputs: int
    with_outputs: int
    with_inputs_and_outputs: int
    owned_jobs: int
    runs: int
    ended: int
    runs_with_outputs: int
    reported: int
    shares: Shares


class BlastRadius(Record, frozen=True, kw_only=True):
    """The number of nodes downstream of a dataset: the median of a sample, and the largest."""

    largest: int
    datasets: int
    sample_size: int
    truncated: bool
    median: float | None = None
    largest_dataset: Ref | None = None


class BrokenPath(Record, frozen=True, kw_only=True):
    """A certified dataset with incomplete lineage, and the nodes where its lineage ends."""

    urn: str
    ends: tuple[str, ...]


class CertifiedPaths(Record, frozen=True, kw_only=True):
    """The certified datasets, and those with incomplete lineage."""

    datasets: int
    sample_size: int
    broken: tuple[BrokenPath, ...]
    integrity: float | None = None


class Coverage(Record, frozen=True, kw_only=True):
    """How much of the estate has lineage, in all and by namespace."""

    since: datetime
    until: datetime
    total: CoverageCounts
    namespaces: dict[str, CoverageCounts]
    blast_radius: BlastRadius
    certified_paths: CertifiedPaths

    def __repr__(self) -> str:
        share = self.total.shares.lineage
        shown = "nothing to count" if share is None else f"{share:.1%} in lineage"
        return f"<Coverage: {shown}, {len(self.namespaces)} namespaces>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the counts as a data frame, a row for each namespace. Raises QueryError without
        pandas.
        """
        return frames.frame_of_rows(self._rows(), self._columns())

    def _repr_html_(self) -> str:
        return frames.html_of_rows(self._rows(), _COVERAGE_COLUMNS, caption=repr(self))

    def _columns(self) -> list[str]:
        fields = [field.name for field in msgspec.structs.fields(CoverageCounts)]
        return ["namespace", *(name for name in fields if name != "shares")]

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"namespace": name, **msgspec.structs.asdict(counts)}
            for name, counts in self.namespaces.items()
        ]


class ReplayInput(Record, frozen=True, kw_only=True):
    """What a run reads: the dataset, its versions, and the runs to wait for."""

    dataset: Ref
    version_urns: tuple[str, ...] = ()
    wait_for: tuple[Ref, ...] = ()


class ReplayOutput(Record, frozen=True, kw_only=True):
    """What a run wrote: the version to replace, and the last good one before it."""

    dataset: Ref
    version: Ref | None = None
    last_good: Ref | None = None


class Rerun(Record, frozen=True, kw_only=True):
    """A run to replace by a new run of its job. Runs of the same `step` may run in parallel."""

    step: int
    owners: tuple[str, ...]
    inputs: tuple[ReplayInput, ...]
    outputs: tuple[ReplayOutput, ...]
    reads_own_output: bool
    in_cycle: bool
    superseded: bool
    run: Ref | None = None
    job: Ref | None = None


class ReplayPlan(Record, frozen=True, kw_only=True):
    """The runs to replace after corrupt ones, in the order in which they must run."""

    corrupt_runs: tuple[Ref, ...]
    reruns: tuple[Rerun, ...]
    next_jobs: tuple[Ref, ...]
    cycles: tuple[tuple[Ref, ...], ...]
    answers: tuple[Ref, ...]
    owners: tuple[str, ...]
    truncated: bool
    truncated_by: str | None = None

    def __repr__(self) -> str:
        steps = max((one.step for one in self.reruns), default=0)
        return (
            f"<ReplayPlan: {len(self.reruns)} runs in {steps} steps, {len(self.answers)} answers>"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return the runs as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self.reruns, Rerun)

    def _repr_html_(self) -> str:
        return frames.html_table(self.reruns, _RERUN_COLUMNS, caption=repr(self))


class EvidencePack(msgspec.Struct, frozen=True, kw_only=True):
    """A sealed evidence pack: what is known about one node, and a digest of it.

    `headwater evidence --verify FILE` checks the file that `write` makes.
    """

    pack: dict[str, Any]
    digest: dict[str, Any]

    @property
    def hash(self) -> str:
        """Return the hash over the whole pack, in hexadecimal digits."""
        return str(self.digest["hash"])

    def __repr__(self) -> str:
        return f"<EvidencePack: {len(self.pack)} sections, {self.hash}>"

    def write(self, path: str | Path) -> Path:
        """Write the pack with its digest as JSON.

        Args:
            path: The file.

        Returns:
            The file.
        """
        file = Path(path)
        document = msgspec.structs.asdict(self)
        file.write_text(json.dumps(document, sort_keys=True, indent=2) + "\n", encoding="utf-8")
        return file
