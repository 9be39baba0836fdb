"""The definition of each figure: what is counted, of what, when, and which values need attention.

`docs/reference/figures.md` is written from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater.errors import QueryError
from headwater.schema.tags import CRITICAL_TAGS

WINDOW_DAYS = 30
RECENT_DAYS = 7


class Unit(StrEnum):
    """The unit of a value; a share is between 0 and 1, a cost is in the currency of a price."""

    SHARE = "SHARE"
    COUNT = "COUNT"
    SECONDS = "SECONDS"
    COST = "COST"


class Direction(StrEnum):
    """The direction in which a value gets better; NEITHER for a figure without a threshold."""

    UP = "UP"
    DOWN = "DOWN"
    NEITHER = "NEITHER"


@dataclass(frozen=True)
class FigureDefinition:
    """A figure.

    `threshold` is the worst value that needs no attention, `target` the value to reach. `lists`
    says which nodes the figure lists. `page` is the view of the page that lists them, if not the
    page of the figure. `window_days` is 0 for a figure of the graph as it is. `is_backfillable`:
    the graph knows the value of past days.
    """

    name: str
    title: str
    numerator: str
    denominator: str
    lists: str
    unit: Unit
    good: Direction
    threshold: float | None = None
    target: float | None = None
    window_days: int = 0
    page: str = ""
    is_backfillable: bool = False

    @property
    def href(self) -> str:
        """Return the address of the list behind the figure."""
        return self.page or f"/dashboards/{self.name}"

    def is_out_of_bounds(self, value: float | None) -> bool:
        """Return True if a value is beyond the threshold; an unknown value is not."""
        if value is None or self.threshold is None:
            return False
        return value < self.threshold if self.good is Direction.UP else value > self.threshold


FIGURES = {
    one.name: one
    for one in (
        FigureDefinition(
            name="coverage",
            title="Lineage coverage",
            numerator="datasets that a job reads or writes, and jobs with inputs and outputs",
            denominator="datasets and jobs",
            lists="the datasets and jobs without lineage",
            unit=Unit.SHARE,
            good=Direction.UP,
            threshold=0.8,
            target=0.95,
            is_backfillable=True,
        ),
        FigureDefinition(
            name="unknown-downstreams",
            title="Unknown downstreams",
            numerator="datasets with a known producer that nothing ever read or cited",
            denominator="datasets",
            lists="these datasets",
            unit=Unit.SHARE,
            good=Direction.DOWN,
            threshold=0.3,
            target=0.1,
            is_backfillable=True,
        ),
        FigureDefinition(
            name="median-blast-radius",
            title="Median blast radius",
            numerator="the median, over changes, of the datasets and jobs downstream. A change is "
            "a complete version of a dataset by a run that started in the window. At most 100 "
            "changed datasets are measured, those with the smallest hashes, and at most 1,000 "
            "nodes downstream of each",
            denominator="changes",
            lists="the changed datasets, those with the most nodes downstream first",
            unit=Unit.COUNT,
            good=Direction.DOWN,
            threshold=20,
            target=5,
            window_days=WINDOW_DAYS,
        ),
        FigureDefinition(
            name="certified-path-integrity",
            title="Certified-path integrity",
            numerator="certified datasets whose every upstream path ends at a source. A source is "
            "registered, or a run read it before any run produced it",
            denominator="datasets with the tag certified or canonical",
            lists="the certified datasets with an incomplete path",
            unit=Unit.SHARE,
            good=Direction.UP,
            threshold=1.0,
            target=1.0,
        ),
        FigureDefinition(
            name="model-completeness",
            title="Complete model versions",
            numerator="model versions with a completeness of 1: the share of the versions behind "
            "a model version whose origin is known. A model is a dataset of type MODEL, or "
            "registered as a model",
            denominator="newest model versions (20 at most)",
            lists="the datasets of incomplete model versions",
            unit=Unit.SHARE,
            good=Direction.UP,
            threshold=0.9,
            target=1.0,
        ),
        FigureDefinition(
            name="active-pipelines",
            title="Active pipelines",
            numerator="jobs with a run that started in the window",
            denominator="jobs that contain no others",
            lists="the active jobs",
            unit=Unit.COUNT,
            good=Direction.NEITHER,
            window_days=RECENT_DAYS,
            is_backfillable=True,
        ),
        FigureDefinition(
            name="critical-consumers",
            title="Critical consumers",
            numerator="jobs that read a dataset and have one of the tags certified, canonical, "
            + ", ".join(CRITICAL_TAGS)
            + "; or that write a dataset with one",
            denominator="jobs that read a dataset",
            lists="these jobs",
            unit=Unit.COUNT,
            good=Direction.NEITHER,
        ),
        FigureDefinition(
            name="compliance-incidents",
            title="Compliance incidents",
            numerator="datasets with a check whose newest result of the window failed, and "
            "datasets with a column that takes personal data (tag pii) from another one, "
            "unmasked and without that tag",
            denominator="datasets",
            lists="these datasets",
            unit=Unit.COUNT,
            good=Direction.DOWN,
            threshold=0,
            target=0,
            window_days=90,
        ),
        FigureDefinition(
            name="exposed-artifacts",
            title="Exposed personal data",
            numerator="datasets, models, answers and exports that personal data reaches from "
            "another column without a masking step",
            denominator="datasets",
            lists="these nodes",
            unit=Unit.COUNT,
            good=Direction.DOWN,
            threshold=0,
            target=0,
        ),
        FigureDefinition(
            name="correlated-traces",
            title="Correlated traces",
            numerator="traces whose runs belong to jobs of at least two namespaces",
            denominator="traces that runs of the window name",
            lists="the newest run of each other trace",
            unit=Unit.SHARE,
            good=Direction.UP,
            threshold=0.9,
            target=0.95,
            window_days=WINDOW_DAYS,
        ),
        FigureDefinition(
            name="open-actions",
            title="Open actions",
            numerator="datasets with a compliance incident, certified datasets without an owner, "
            "and jobs whose newest ended run failed",
            denominator="datasets and jobs",
            lists="these datasets and jobs",
            unit=Unit.COUNT,
            good=Direction.DOWN,
            threshold=0,
            target=0,
        ),
        FigureDefinition(
            name="failing-runs",
            title="Failing runs",
            numerator="runs that failed, of the denominator",
            denominator="runs that started in the window and ended",
            lists="the failed runs, newest first",
            unit=Unit.SHARE,
            good=Direction.DOWN,
            threshold=0.05,
            target=0.01,
            window_days=RECENT_DAYS,
            page="/failures?since=7d",
            is_backfillable=True,
        ),
        FigureDefinition(
            name="time-to-impact",
            title="Time to impact",
            numerator="the median time from a failure, by its producer's clock, to the last write "
            "of the run in the graph: from then on its impact list is complete",
            denominator="runs that failed in the window",
            lists="the failed runs, longest time first",
            unit=Unit.SECONDS,
            good=Direction.DOWN,
            threshold=900,
            target=60,
            window_days=RECENT_DAYS,
        ),
    )
}


def definitions_of(names: list[str] | None) -> list[FigureDefinition]:
    """Return the definitions of figures by name, of all without names.

    Raises QueryError for an unknown name.
    """
    if not names:
        return list(FIGURES.values())
    for name in names:
        if name not in FIGURES:
            raise QueryError(
                f"{name[:80]!r} is an unknown figure", hint=f"Give one of {', '.join(FIGURES)}."
            )
    return [FIGURES[name] for name in dict.fromkeys(names)]
