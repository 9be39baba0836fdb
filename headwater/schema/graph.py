"""The shape of the graph: labels, properties, edges. Times are ZONED DATETIME in UTC.

Nodes (every one has `urn`; `facts` is what `project` made the node from, as JSON):

| label | properties |
|---|---|
| Dataset | namespace, name, firstSeen, lastSeen, columns (names, in order), schema (JSON), type, facets-in-`facts` |
| Job | namespace, name, firstSeen, lastSeen, type, sql |
| PipelineRun | runId, runUuid (only when runId is no UUID), pipelineName, namespace, status, startedAt, finishedAt, |
| | failedAt, attempts, error, engine, version, triggeredBy, nominalStart |
| Source | namespace, name, dataset (urn), registered, origin, format, rowCount, capturedAt, checksum |
| Artifact | namespace, name, dataset (urn), run (urn), runId, startedAt, createdAt, complete, status, |
| | rowCount, bytes, fileCount, type, storagePath, schema, derivedFrom (dataset urns; absent when unknown) |
| Answer | answerId, type, content, generatedAt, generatedBy |
| Column | namespace, dataset (name), name (the field), type, current |

Beside the graph, with a `tally` (JSON) instead of `facts`, what the worker counted:

| label | properties |
|---|---|
| Producer | producer, events, first, last, fromTheFuture, skewMin, skewMedian, skewMax (seconds) |
| Finding | producer, rule, field, count, first, last, receipt, example, detail |

Edges. History, what happened:

    (Source|Artifact)-[:FEEDS]->(PipelineRun)-[:PRODUCED]->(Artifact)       rowCount on both where it was sent
    (Source|Artifact|Answer|Column)-[:CITED_BY]->(Answer)                   pinned: cited as that very version
    (Artifact)-[:DERIVED_FROM]->(Source|Artifact)                           only where an event says which inputs
    (PipelineRun)-[:PART_OF]->(PipelineRun)

The map, how things are wired:

    (Dataset)-[:FEEDS {firstSeen, lastSeen}]->(Job)-[:PRODUCED {firstSeen, lastSeen}]->(Dataset)
    (Dataset)-[:DERIVED_FROM {job, firstSeen}]->(Dataset)                   only where an event says which inputs
    (Column)-[:FEEDS {job, ways, firstSeen}]->(Column)

Between them: (PipelineRun)-[:RUN_OF]->(Job), (Source|Artifact)-[:VERSION_OF]->(Dataset),
(Dataset)-[:HAS_COLUMN]->(Column). A walk over FEEDS|PRODUCED|CITED_BY therefore never leaves its layer.

Which inputs an output came from: where it has DERIVED_FROM edges, those; otherwise every input of its run or job.
"""

from __future__ import annotations

# urn kind -> label; the kind of a node in GraphQL is its label in capitals: DATASET, JOB, PIPELINE_RUN, ...
LABELS = {
    "dataset": "Dataset",
    "job": "Job",
    "run": "PipelineRun",
    "source": "Source",
    "artifact": "Artifact",
    "answer": "Answer",
    "column": "Column",
    "schema": "SchemaVersion",
}

NODE_KINDS = {
    "Dataset": "DATASET",
    "Job": "JOB",
    "PipelineRun": "PIPELINE_RUN",
    "Source": "SOURCE",
    "Artifact": "ARTIFACT",
    "Answer": "ANSWER",
    "Column": "COLUMN",
    "SchemaVersion": "SCHEMA_VERSION",
}

RUN_STATUSES = ("RUNNING", "COMPLETE", "FAIL", "ABORT", "ABANDONED")
