"""Events of an estate with personal data: a copied, a masked, a filtered and an unknown way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.event_builders import dataset, run_event
from tests.run_builders import FACET, Event, at

COPY = {"type": "DIRECT", "subtype": "IDENTITY"}
MASK = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
FILTER = {"type": "INDIRECT", "subtype": "FILTER"}


def tagged(*tags: str, name: str, namespace: str = "db", minute: int = 0) -> Event:
    """Return the event of a dataset with tags: `key=value`, or `field:key=value` of a column."""
    return described(name, namespace, minute, {"tags": {"tags": [_tag(tag) for tag in tags]}})


def described(name: str, namespace: str, minute: int, facets: dict[str, Any]) -> Event:
    return {
        "eventTime": at(minute),
        "producer": FACET["_producer"],
        "dataset": dataset(name, facets, namespace=namespace),
    }


def _tag(text: str) -> dict[str, str]:
    field, _, rest = text.rpartition(":")
    key, _, value = rest.partition("=")
    tag = {"key": key, "value": value or "true"}
    return {**tag, "field": field} if field else tag


def columns(*names: str) -> dict[str, Any]:
    return {"schema": {"fields": [{"name": name, "type": "string"} for name in names]}}


def lineage(*edges: tuple[str, str, dict[str, Any]], namespace: str = "db") -> dict[str, Any]:
    """Return column lineage: of each target column its source `dataset.column`, and how."""
    fields: dict[str, Any] = {}
    for target, source, how in edges:
        name, _, field = source.rpartition(".")
        entry = {"namespace": namespace, "name": name, "field": field, "transformations": [how]}
        fields.setdefault(target, {"inputFields": []})["inputFields"].append(entry)
    return {"columnLineage": {"fields": fields}}


def moved(
    job: str,
    source: str,
    target: str,
    *edges: tuple[str, str, dict[str, Any]],
    fields: Sequence[str] = (),
    more: dict[str, Any] | None = None,
    minute: int = 1,
    run: str = "",
) -> Event:
    """Return the event of a run from one dataset to another, with column lineage if given."""
    facets = {
        **(columns(*fields) if fields else {}),
        **(lineage(*edges) if edges else {}),
        **(more or {}),
    }
    return run_event(
        run or f"run-{job}",
        minute=minute,
        job=job,
        inputs=[source],
        outputs=[dataset(target, facets)],
    )


MODEL = {"datasetType": {"datasetType": "MODEL"}}


def estate() -> list[Event]:
    """Return the estate: `raw` has a column `mail` with the tag pii=email.

    features copies it and trains `churn`; `safe` masks it and trains `safe-churn`; `counts` only
    filters by it; `opaque` has no columns; `export` is tagged so.
    """
    return [
        tagged("mail:pii=email", name="raw"),
        described("raw", "db", 0, columns("mail", "id")),
        moved("copy", "raw", "features", ("mail", "raw.mail", COPY), fields=("mail",)),
        moved("mask", "raw", "safe", ("mail", "raw.mail", MASK), fields=("mail",)),
        moved("count", "raw", "counts", ("n", "raw.mail", FILTER), fields=("n",)),
        moved("opaque", "raw", "opaque", fields=("x",)),
        moved("train", "features", "churn", more=MODEL, minute=2),
        moved("train-safe", "safe", "safe-churn", more=MODEL, minute=2),
        moved("send", "features", "export", ("m", "features.mail", COPY), fields=("m",), minute=3),
        tagged("export", name="export", minute=4),
    ]
