"""The rules that an event can break, as a table.

`error` breaks the specification or loses lineage; `info` costs nothing now.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A rule. `meaning` states the fault, `hint` the correction, each in one sentence."""

    severity: str
    meaning: str
    hint: str


RULES: dict[str, Rule] = {
    "refused": Rule(
        "error",
        "The event was accepted, but is no OpenLineage event, so the graph has nothing of it.",
        "Compare its example and the dead letters with the specification.",
    ),
    "missing-producer": Rule(
        "error",
        "The event does not name the program that sent it.",
        "Send `producer`, a URI that names the program and its version.",
    ),
    "producer-is-no-uri": Rule(
        "error",
        "The producer is not a URI.",
        "Send a URI, for example the address of the program's code at its version.",
    ),
    "missing-schema-url": Rule(
        "error",
        "The event does not name the version of its specification.",
        "Send `schemaURL`, for example "
        "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent.",
    ),
    "missing-event-time": Rule(
        "error",
        "The event has no time; the time of its first receipt is used.",
        "Send `eventTime`, ISO 8601 with a zone.",
    ),
    "naive-event-time": Rule(
        "error",
        "The time of the event has no zone and is read as UTC; it may be hours off.",
        "Send a zone with it, for example Z.",
    ),
    "event-from-the-future": Rule(
        "error",
        "The event is dated after its receipt, which orders it instead: the sender's clock is "
        "ahead, or its zone is wrong.",
        "Keep the sender's clock in step (NTP), and send times in UTC.",
    ),
    "missing-event-type": Rule(
        "error",
        "The run event has no event type, so it changes no state.",
        "Send `eventType`: START, RUNNING, COMPLETE, ABORT, FAIL or OTHER.",
    ),
    "lower-case-event-type": Rule(
        "error",
        "The event type is not in capitals; strict readers refuse it.",
        "Write it in capitals: START, COMPLETE.",
    ),
    "run-id-no-uuid": Rule(
        "error",
        "The run's id is not a UUID; strict readers refuse the event.",
        "Send a UUID; derive it from the id of the scheduler (UUID version 5).",
    ),
    "failure-without-a-reason": Rule(
        "info",
        "The run failed without a reason in its event.",
        "Send the facet `errorMessage` with the event that ends a run by FAIL.",
    ),
    "lone-surrogate": Rule(
        "error",
        "A text has a lone surrogate, which was replaced by U+FFFD.",
        "Decode names as UTF-8 at their origin, and cut texts between characters.",
    ),
    "dataset-twice": Rule(
        "info",
        "One list names the same dataset twice; the entries are merged.",
        "Send each dataset once, with all its facets.",
    ),
    "facet-not-an-object": Rule(
        "error",
        "A facet is no JSON object, so nothing is read from it.",
        "Send an object, or omit the facet.",
    ),
    "facet-breaks-its-schema": Rule(
        "error",
        "A facet of the specification breaks its schema; only its readable part is used.",
        "Send the field as the schema of the facet defines it; the detail names the expected form.",
    ),
    "facet-without-producer": Rule(
        "error",
        "A facet does not name the program that built it.",
        "Send `_producer` in the facet, a URI.",
    ),
    "facet-without-schema-url": Rule(
        "error",
        "A facet does not name its schema.",
        "Send `_schemaURL` in the facet.",
    ),
    "facet-without-prefix": Rule(
        "info",
        "A custom facet has no prefix, so two senders may use its name with two meanings.",
        "Name it with a prefix of your own and an underscore, for example acme_costs.",
    ),
    "facet-misplaced": Rule(
        "info",
        "A facet of the specification is on another entity than the specification allows.",
        "Move it: facets of a read go to inputFacets, facets of a write to outputFacets.",
    ),
    "old-parent-key": Rule(
        "info",
        "The parent has the key `parentRun`, which is obsolete since 2022.",
        "Send it as `parent`.",
    ),
    "half-given-parent": Rule(
        "error",
        "The parent is incomplete: a run without its job, or a job without its run.",
        "Send both `run.runId` and `job` with its namespace and name.",
    ),
    "own-parent": Rule(
        "error",
        "The run names itself as its parent.",
        "Send the id of the run that started it, or no parent.",
    ),
    "empty-owner": Rule(
        "error",
        "An owner has no name.",
        "Send the name of the owner, or omit the owner.",
    ),
    # Not wrong: dbt's schemas hold the columns that somebody described, its column lineage all of
    # them.
    "unknown-column": Rule(
        "info",
        "The column lineage names a field that the schema of the dataset in the same event lacks.",
        "Send every field in `schema`, spelled as in `columnLineage`.",
    ),
    "unknown-source-column": Rule(
        "info",
        "The column lineage names a source field that the schema of the input lacks.",
        "Spell the field as the `schema` of the input does.",
    ),
}
