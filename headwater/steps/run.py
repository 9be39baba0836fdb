"""A run that sends its steps: `with headwater.steps.run(job=..., namespace=...)`."""

from __future__ import annotations

import logging
import os
import traceback
import uuid
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from headwater.errors import HeadwaterError
from headwater.schema.headwater_facets import PRODUCER
from headwater.spark_hooks.listener import endpoint
from headwater.spark_hooks.send import post
from headwater.steps.recorder import Recorder, reset_current, set_current

FACET = "headwater_steps"
SECONDS = 2.0
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_ERROR_SCHEMA = "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json"

log = logging.getLogger("headwater")


class StepRun:
    """One run of a job, with the steps that tracked functions record in it.

    It sends START when it is entered, and COMPLETE or FAIL with the steps when it is left. What
    cannot be sent within two seconds is logged. The steps also stay in `recorder`.
    """

    def __init__(
        self,
        job: str,
        namespace: str,
        *,
        url: str | None,
        api_key: str | None,
        measure_spark: bool,
        run_id: str | None,
    ) -> None:
        self.job, self.namespace = job, namespace
        self.run_id = run_id or str(uuid.uuid4())
        self.recorder = Recorder(measure_spark=measure_spark)
        self._url = url or os.environ.get("HEADWATER_URL") or ""
        self._api_key = api_key or os.environ.get("HEADWATER_API_KEY")
        self._inputs: dict[tuple[str, str], None] = {}
        self._outputs: dict[tuple[str, str], None] = {}
        self._token: Any = None

    def reads(self, namespace: str, name: str) -> None:
        """Name a dataset that the run reads."""
        self._inputs[namespace, name] = None

    def writes(self, namespace: str, name: str) -> None:
        """Name a dataset that the run writes."""
        self._outputs[namespace, name] = None

    def __enter__(self) -> StepRun:
        self._token = set_current(self.recorder)
        self._send(self.event("START"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        reset_current(self._token)
        self._send(self.event("FAIL" if error is not None else "COMPLETE", error))

    def event(self, type: str, error: BaseException | None = None) -> dict[str, Any]:
        """Return the OpenLineage event of a change of the run, with the steps at its end."""
        facets: dict[str, Any] = {}
        if type != "START":
            facets[FACET] = {**_facet(FACET), **self.recorder.to_json()}
        if error is not None:
            facets["errorMessage"] = {
                "_producer": PRODUCER,
                "_schemaURL": _ERROR_SCHEMA,
                "message": f"{error.__class__.__name__}: {error}",
                "programmingLanguage": "python",
                "stackTrace": "".join(traceback.format_exception(error))[-10_000:],
            }
        return {
            "eventType": type,
            "eventTime": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "producer": PRODUCER,
            "schemaURL": _SPEC,
            "run": {"runId": self.run_id, "facets": facets},
            "job": {"namespace": self.namespace, "name": self.job, "facets": {}},
            "inputs": [{"namespace": space, "name": name} for space, name in self._inputs],
            "outputs": [{"namespace": space, "name": name} for space, name in self._outputs],
        }

    def _send(self, event: dict[str, Any]) -> None:
        if not self._url:
            return
        try:
            origin, path = endpoint(self._url)
            post(origin + path, event, api_key=self._api_key, seconds=SECONDS)
        except HeadwaterError as fault:
            log.warning("steps_not_sent url=%s reason=%s", self._url, fault.message)
        except Exception:  # a job must not fail because of its lineage
            log.warning("steps_not_sent url=%s", self._url, exc_info=True)


def run(
    job: str,
    namespace: str = "default",
    *,
    url: str | None = None,
    api_key: str | None = None,
    measure_spark: bool = False,
    run_id: str | None = None,
) -> StepRun:
    """Return a run for a `with` statement, in which tracked functions record their steps.

    Args:
        job: The name of the job.
        namespace: The namespace of the job.
        url: Address of Headwater; by default HEADWATER_URL. Without one nothing is sent.
        api_key: API key, if it needs one; by default HEADWATER_API_KEY.
        measure_spark: Count the rows, nulls and content of PySpark frames. Each count runs the
            plan of the frame once more.
        run_id: The id of the run, a UUID; by default a new one.
    """
    return StepRun(
        job,
        namespace,
        url=url,
        api_key=api_key,
        measure_spark=measure_spark,
        run_id=run_id,
    )


def _facet(name: str) -> dict[str, str]:
    return {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/facets/{name}.json"}
