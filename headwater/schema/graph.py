"""The shape of the graph: labels, properties, edges. Times are ZONED DATETIME in UTC.

Nodes. Each node has a `urn`. Nodes that come from events keep their facts, with every facet as
sent, in `facts`. Facts are packed JSON (`headwater.schema.facts_codec`), because they are most of
the size of a node. No other property is bytes.

| label | properties |
|---|---|
| Dataset | namespace, name, guid (UUIDv5 of the urn), firstSeen, lastSeen, columns (names, in |
| | order), schema (JSON), type, subType, description, owners, tags, sourceName, |
| | sourceUri, sourceRef (the place of a registered asset), storage, fileFormat, |
| | catalog, hierarchy, lifecycle (the last change of its lifecycle), lifecycleAt, |
| | droppedAt (if that change was a DROP), deletedAt (if a person deleted it and no later |
| | event named it) |
| Symlink | namespace, name: another name of a dataset, with the facts that events report under |
| | that name |
| SchemaVersion | hash, fields (JSON: names and types, in order), columns (names); one node for |
| | every user of that schema |
| Job | namespace, name, guid, firstSeen, lastSeen, type, processing, integration, sql, language, |
| | sourceCode, codeUrl, codeRepo, codePath, codeVersion, codeBranch, description, owners, |
| | tags, declaresInputs, declaresOutputs (true if a JobEvent declared any), deletedAt |
| PipelineRun | runId, runUuid (only if runId is no UUID), pipelineName, namespace, status, |
| | startedAt, finishedAt, failedAt, lastSeen (unless equal to finishedAt), lastEnd |
| | (the last end of any attempt, unless equal to finishedAt), attempts (the number of |
| | attempts of this run id, unless one), error, extractionErrors, engine, version, |
| | triggeredBy, nominalStart, nominalEnd, externalQueryId, tags, testsPassed, |
| | testsFailed, failedTests, slot (the job and nominal time), attempt (its number in |
| | the slot), retried, reportedSides (of a run that succeeded: "reads", "writes" or |
| | "both", the sides of its job it named; "failed" of a run that failed or was |
| | aborted in an execution), execution (urn of its root run, or else of its parent, if |
| | it has reportedSides), lastHeartbeatAt (of a running run: when |
| | Headwater last received an event of it), heartbeatLost (true if the run is |
| | abandoned because no event of it arrived in time), endUnreported (true for a job on |
| | Spark's RDDs that wrote nothing and sent no end: it counts as COMPLETE when its |
| | parent does), changedAt (the last write of this node, by the clock of Neo4j) |
| Source | namespace, name, dataset (urn), registered, origin, format, rowCount, capturedAt, |
| | checksum |
| Artifact | namespace, name, dataset (urn), runId, startedAt (unless equal to its run's), |
| | createdAt, complete, status, longRunningSince (startedAt, if the version took more |
| | than an hour), rowCount, bytes, fileCount, type, storagePath, schema, schemaHash, |
| | drift (the changes of its schema), version (its producer's name for it), lifecycle, |
| | writeMode ("append" or "overwrite"; without it unknown), inputsHash (of an unknown |
| | write: equal for writes of one job that read the same datasets), |
| | derivedFrom (urns of origin datasets that its run did not read; DERIVED_FROM edges |
| | lead to the others), explicit (true if a lineage facet listed its origins: it has no |
| | others) |
| Answer | answerId, name, type, content, generatedAt, generatedBy, url, owners |
| Column | namespace, dataset (name), name (the field), type, current |

A node omits a property that another property or edge implies. Headwater adds it to every answer:
`attempts` and `lastSeen` of every run; `startedAt`, `run` (its urn) and the whole `derivedFrom` of
every version (`headwater.schema.derived_properties`).

Outside lineage, with `statistics` (JSON) instead of `facts`, the counts of the worker:

| label | properties |
|---|---|
| Producer | producer, events, first, last, futureEvents, skewMin, skewMedian, skewMax (seconds) |
| Finding | producer, rule, field, count, first, last, sequence (of an example in the spool), |
| | example, detail |

Outside lineage too, one node for each event without an event time or dated in the future:

| label | properties |
|---|---|
| Receipt | receivedAt (the first receipt of the event, which orders it), eventTime (its own |
| | time); its urn has the digest of the event |

Tags, whose names datasets and jobs have as text:

| label | properties |
|---|---|
| Tag | name, description, defined (false once the definition was withdrawn) |

One node is the write lock: (WriteLock {name: "graph"}) with holder, graph (an id), revision (every
write transaction adds one), erasing (true during an erasure) and erasedAt (the revision of the last
erasure). Dataset, Symlink and Job have lineageRevision: the revision that last changed their edges
in the lineage graph or their displayed properties.

The pipelines (docs/how-to/pipelines.md) write:

| label | properties |
|---|---|
| RunSummary | job (urn), day (ISO date, UTC, of the start), status, versions (digest of the code |
| | version and of the datasets read and written with their schemas), version, reads, |
| | writes (dataset urns), runs, first, last (starts), timed (the number of runs with |
| | both times), seconds, secondsMin, secondsMax, errors (of extraction), rowsRead, |
| | rowsWritten, bytesWritten: sums over runs that the rollup removed |
| Analysis | table, subject (urn of a Dataset or Job, "" for the whole), values (JSON: the row of |
| | the table), newestEventAt, analysedAt |
| Retention | name ("graph", instead of a urn), horizons (JSON: every applied set of rules, with |
| | its last use), lateRuns (how many runs arrived after their time and were not |
| | written) |

(RunSummary)-[:SUMMARY_OF]->(Job), (Analysis)-[:ABOUT]->(Dataset|Job). An Artifact with `rolledUp`
lost its run to a summary: a remaining run has read it, and lineage ends at it as at a source.

Edges of the run history:

    (Source|Artifact)-[:FEEDS]->(PipelineRun)-[:PRODUCED]->(Artifact)
        rowCount, bytes (of PRODUCED: at the version), partitions, subset,
        assertions, metrics (JSON, as sent)
    (PipelineRun)-[:FEEDS]->(PipelineRun)                  data passed without a dataset
    (Artifact)-[:FEEDS]->(Artifact)                        content that an append kept
    (PipelineRun)-[:DROPPED]->(Dataset)
    (Source|Artifact|Answer|Column)-[:CITED_BY]->(Answer)
        pinned: cited as that very version; dataset
    (Artifact)-[:DERIVED_FROM]->(Source|Artifact)          only if an event lists the inputs
    (PipelineRun)-[:PART_OF]->(PipelineRun)                its parent, or else its root
    (PipelineRun)-[:TRIGGERS]->(PipelineRun)               control flow: no data passes
    (PipelineRun)-[:RETRY_OF]->(PipelineRun)               the attempt before it in its slot

If a run reports the quality of a dataset, its edge has `qualityDataset` (the dataset) and
`reportedAt` (the end of the run or its last event). FEEDS then has `checkedVersion` (the version),
`updatedVersion` (the version, if the report dates its last update) and, if tests failed in the run,
`failingVersion` (the version). Indexes find these few edges among many. FEEDS into a run has
`requestedVersion` if the run named a version by its producer's name: the dataset, @ and that name.

Edges of the lineage graph, which shows how jobs and datasets are wired. These edges are never
removed. `current` is true for the edges that hold now; `firstSeen` and `lastSeen` are the first and
last observation. `reportedUrns` has the urns of both ends as the events reported them, separated by
a space, if they are other names of the ends; otherwise it is empty:

    (Dataset)-[:FEEDS {declared}]->(Job)
    (Job)-[:PRODUCED {declared, assertedByDataset, explicit, fromAllInputs}]->(Dataset)
    (Dataset)-[:FEEDS]->(Dataset), (Job)-[:FEEDS]->(Job)      no known job or dataset between
    (Dataset)-[:DERIVED_FROM {job, evidence, declared}]->(Dataset)
        only if an event lists the inputs
    (Column)-[:FEEDS {job, transformations}]->(Column|Dataset)
        Dataset: each row depends on the column
    (Job)-[:PART_OF]->(Job), (Job)-[:TRIGGERS]->(Job)

`declared`: the newest declaration of the job has it. `assertedByDataset`: true if a dataset names
this job as its producer, false if it no longer does. `explicit`: a lineage facet listed the origins
of this output. `fromAllInputs`: a run of the newest execution listed none. `transformations` of a
column: DIRECT:IDENTITY and the like. `evidence` of a derivation: columns, lineage, declared,
renamed.

Between the two layers: (PipelineRun)-[:RUN_OF]->(Job), (Source|Artifact)-[:VERSION_OF]->(Dataset),
(Dataset)-[:HAS_COLUMN]->(Column), (Dataset|Artifact)-[:HAS_SCHEMA]->(SchemaVersion),
(Symlink)-[:SYMLINK_OF]->(Dataset). A path over FEEDS|PRODUCED|CITED_BY therefore stays in its
layer.

A job may have a million runs and a dataset a million versions, all attached to one node. Indexes in
the order of time find them: runs by namespace, pipelineName and startedAt; versions by dataset,
complete and createdAt; long-running versions by dataset and longRunningSince. An edge to a node
that these indexes miss has `indexedUnder`, the urn of the job or dataset, and an index of its own:
RUN_OF of a run that has the name of another of its jobs or no startedAt, VERSION_OF of a version
without `complete` or createdAt. CITED_BY has `dataset` (urn) of the cited version, because
citations are few among versions.

The origins of an output: if it is `explicit`, the targets of its DERIVED_FROM edges, even if there
are none; otherwise these targets if there are any and, of a job, the edge has no `fromAllInputs`;
otherwise every input of its run or job.
"""

from __future__ import annotations

# urn kind -> label. In GraphQL the kind of a node is its label in capitals: PIPELINE_RUN, ...
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

# The sides of a job that a successful run reported (`reportedSides`): its inputs, its outputs, or
# both. FAILED marks a run that failed in an execution of several runs.
READS, WRITES, BOTH, FAILED = "reads", "writes", "both", "failed"
