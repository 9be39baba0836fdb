"""What an event can be found to do against the specification or against its own interest, as a
table.

`error` breaks the specification or costs lineage; `info` is worth knowing and nothing to hint in a
hurry.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """`meaning` is one sentence on what is wrong, `hint` one on how to put it right."""

    severity: str
    meaning: str
    hint: str


RULES: dict[str, Rule] = {
    "refused": Rule(
        "error",
        "It was taken in, but is no OpenLineage event, so nothing of it is in the graph.",
        "Look at its example and at the dead letters, and send what the specification calls an event.",
    ),
    "missing-producer": Rule(
        "error",
        "The event does not say which program sent it.",
        "Send `producer`, a URI that names the program and its version.",
    ),
    "producer-is-no-uri": Rule(
        "error",
        "The producer is not a URI.",
        "Send a URI, for example the address of the program's code at its version.",
    ),
    "missing-schema-url": Rule(
        "error",
        "The event does not say which version of the specification it keeps to.",
        "Send `schemaURL`, for example https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent.",
    ),
    "missing-event-time": Rule(
        "error",
        "The event does not say when it happened, so the time it was received stands in.",
        "Send `eventTime`, ISO 8601 with a zone.",
    ),
    "naive-event-time": Rule(
        "error",
        "The event's time has no zone, and is read as UTC: it may be hours off.",
        "Send a zone with it, for example Z.",
    ),
    "event-from-the-future": Rule(
        "error",
        "The event says that it happened after it was received: the sender's clock is ahead, or its zone is wrong.",
        "Keep the sender's clock in step (NTP), and send times in UTC.",
    ),
    "missing-event-type": Rule(
        "error",
        "The event of a run does not say what happened, so it changes no state.",
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
        "Send a UUID, and where the scheduler has an id of its own, one derived from it (UUID version 5).",
    ),
    "failure-without-a-reason": Rule(
        "info",
        "The run failed and its event does not say why.",
        "Send the facet `errorMessage` with the event that ends a run by FAIL.",
    ),
    "lone-surrogate": Rule(
        "error",
        "A text holds half a character, which was replaced by U+FFFD.",
        "Decode names as UTF-8 where they come from, and cut texts between characters.",
    ),
    "dataset-twice": Rule(
        "info",
        "One list names the same dataset twice; what is said of it is put together.",
        "Send each dataset once, with all its facets.",
    ),
    "facet-not-an-object": Rule(
        "error",
        "A facet is not a JSON object, so nothing is read from it.",
        "Send an object, or leave the facet out.",
    ),
    "facet-breaks-its-schema": Rule(
        "error",
        "A facet of the specification does not keep to its schema; only what can be read of it is used.",
        "Send the field as the facet's schema has it; the detail says what was expected.",
    ),
    "facet-without-producer": Rule(
        "error",
        "A facet does not say which program made it.",
        "Send `_producer` in the facet, a URI.",
    ),
    "facet-without-schema-url": Rule(
        "error",
        "A facet does not say which schema it keeps to.",
        "Send `_schemaURL` in the facet.",
    ),
    "facet-without-prefix": Rule(
        "info",
        "A facet that the specification does not know has no prefix, so that two senders may mean two things by it.",
        "Name it with a prefix of your own and an underscore, for example acme_costs.",
    ),
    "facet-misplaced": Rule(
        "info",
        "A facet of the specification stands where the specification does not have it.",
        "Move it: what a run read belongs under inputFacets, what it wrote under outputFacets.",
    ),
    "old-parent-key": Rule(
        "info",
        "The parent is sent under the name `parentRun`, which went out of use in 2022.",
        "Send it as `parent`.",
    ),
    "half-given-parent": Rule(
        "error",
        "The parent is given by half: a run without its job, or a job without its run.",
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
        "Send the owner's name, or leave the owner out.",
    ),
    # Not wrong: dbt's schemas hold the columns that somebody described, its column lineage all of
    # them.
    "unknown-column": Rule(
        "info",
        "The column lineage names a field of the dataset that its own schema in the same event does not have.",
        "Send every field in `schema`, spelled as in `columnLineage`.",
    ),
    "unknown-source-column": Rule(
        "info",
        "The column lineage comes from a field that the input's schema in the same event does not have.",
        "Send the field as the input's `schema` spells it.",
    ),
}
