"""The shape of the graph: labels, properties, edges. Times are ZONED DATETIME in UTC.

Nodes. Every one has `urn`; those made from facts have them in `facts`, every facet as it was sent among them: JSON,
packed (`headwater.schema.facts_codec`), since it is most of what a node takes up. No other property is bytes.

| label | properties |
|---|---|
| Dataset | namespace, name, guid (UUIDv5 of the urn), firstSeen, lastSeen, |
| | columns (names, in order), schema (JSON), type, subType, |
| | description, owners, tags, sourceName, sourceUri, storage, fileFormat, catalog, hierarchy, |
| | lifecycle (what was last done to it), lifecycleAt, droppedAt (when that was a DROP) |
| Symlink | namespace, name: another name of a dataset, with what was said under it in `facts` |
| SchemaVersion | hash, fields (JSON: names and types, in order), columns (names); shared by whatever has that schema |
| Job | namespace, name, guid, firstSeen, lastSeen, type, processing, integration, sql, language, sourceCode, codeUrl, |
| | codeRepo, codePath, codeVersion, codeBranch, description, owners, tags, |
| | declaresInputs, declaresOutputs (whether a JobEvent ever told) |
| PipelineRun | runId, runUuid (only when runId is no UUID), pipelineName, namespace, status, startedAt, finishedAt, |
| | failedAt, lastSeen (unless that is finishedAt), lastEnd (when anything last ended it, unless that is finishedAt), |
| | attempts (how often this run id was begun, unless once), |
| | error, extractionErrors, engine, version, triggeredBy, nominalStart, nominalEnd, externalQueryId, tags, |
| | testsPassed, testsFailed, failedTests, slot (the job and nominal time), attempt (which one of its slot), |
| | retried, told (whether it succeeded and named what its job reads, writes, or both: "reads", "writes", "both"), |
| | heardAt (received, not sent; while it is running), silent (abandoned because nothing was heard of it), |
| | changedAt (when this was last written, by Neo4j's clock) |
| Source | namespace, name, dataset (urn), registered, origin, format, rowCount, capturedAt, checksum |
| Artifact | namespace, name, dataset (urn), runId, startedAt (unless that is its run's), createdAt, complete, status, |
| | begunAt (startedAt, where it took more than an hour), |
| | rowCount, bytes, fileCount, type, storagePath, schema, schemaHash, drift (what its schema changed), |
| | version (its producer's name for it), lifecycle, derivedFrom (urns of datasets that its run did not read; of the |
| | others its DERIVED_FROM edges tell), |
| | explicit (whether a lineage facet told that, so that it came from nothing else) |
| Answer | answerId, name, type, content, generatedAt, generatedBy |
| Column | namespace, dataset (name), name (the field), type, current |

What is left out where something else says it, whoever asks through Headwater is told all the same: `attempts` and
`lastSeen` of every run, `startedAt`, `run` (its urn) and all of `derivedFrom` of every version
(`headwater.schema.derived_properties`).

Beside the graph, with a `tally` (JSON) instead of `facts`, what the worker counted:

| label | properties |
|---|---|
| Producer | producer, events, first, last, fromTheFuture, skewMin, skewMedian, skewMax (seconds) |
| Finding | producer, rule, field, count, first, last, receipt, example, detail |

And one node of its own, the write lock: (WriteLock {name: "graph"}) with holder, graph (an id), revision (one more with
every transaction that writes), erasing (while the graph is being erased), erasedAt (the revision when it last was).
Dataset, Symlink and Job have mapRevision: the revision in which their place on the map, or what is shown of them, last
changed.

And, from the pipelines (docs/how-to/pipelines.md), what no event says by itself:

| label | properties |
|---|---|
| RunSummary | job (urn), day (ISO date, UTC, of the start), status, versions (digest of the code version and of the |
| | datasets read and written with their schemas), version, reads, writes (dataset urns), runs, first, last (starts), |
| | timed (runs that have both times), seconds, secondsMin, secondsMax, errors (of extraction), rowsRead, rowsWritten, |
| | bytesWritten: sums over the runs that are in the graph no more |
| Analysis | table, subject (urn of a Dataset or Job, "" for the whole), values (JSON: the row of the table), until |
| | (the newest event), analysed (when) |
| Retention | name ("graph", instead of a urn), horizons (JSON: every set of rules that was applied, and when last), |
| | late (how often a run was told of after its time, and left out) |

(RunSummary)-[:SUMMARY_OF]->(Job), (Analysis)-[:ABOUT]->(Dataset|Job). An Artifact with `rolledUp` has lost its run to a
summary: something left has read it, and lineage ends at it as at a source.

Edges. History, what happened:

    (Source|Artifact)-[:FEEDS]->(PipelineRun)-[:PRODUCED]->(Artifact)       rowCount, bytes (of PRODUCED: at the
                                                                            version), partitions, subset,
                                                                            assertions, metrics (JSON, as sent)
    (PipelineRun)-[:FEEDS]->(PipelineRun)                                   data that took no way over a dataset
    (PipelineRun)-[:DROPPED]->(Dataset)
    (Source|Artifact|Answer|Column)-[:CITED_BY]->(Answer)                   pinned: cited as that very version; dataset
    (Artifact)-[:DERIVED_FROM]->(Source|Artifact)                           only where an event says which inputs
    (PipelineRun)-[:PART_OF]->(PipelineRun)                                 its parent, or else its root
    (PipelineRun)-[:TRIGGERS]->(PipelineRun)                                control flow: no data goes along it
    (PipelineRun)-[:RETRY_OF]->(PipelineRun)                                the attempt before it in its slot

Where a run says anything of the quality of what it read or wrote, its edge has `quality` (the dataset) and `saidAt`
(when the run ended or was last heard of). FEEDS then has `checked` (the version), `updated` (the version, where it
tells when that was updated) and, where the run saw tests fail, `failing` (the version), by which these few are found
among many.
FEEDS into a run has `wanted` where the run asked for a version by its producer's name: the dataset, @ and that name.

The map, how things are wired. Its edges only grow; `current` tells which hold now, `firstSeen` and `lastSeen` from when
to when they were seen, `sentAs` the two urns they were sent with where these are other names of the ends:

    (Dataset)-[:FEEDS {declared}]->(Job)-[:PRODUCED {declared, claimed, explicit}]->(Dataset)
    (Dataset)-[:FEEDS]->(Dataset), (Job)-[:FEEDS]->(Job)                    nothing is known to lie between
    (Dataset)-[:DERIVED_FROM {job, ways, declared}]->(Dataset)              only where an event says which inputs
    (Column)-[:FEEDS {job, ways}]->(Column|Dataset)                         Dataset: the whole depends on the column
    (Job)-[:PART_OF]->(Job), (Job)-[:TRIGGERS]->(Job)

`declared`: in the newest declaration of the job. `claimed`: a dataset says that this job makes it. `explicit`: of this
output a lineage facet told what it came from. `ways` of a column: DIRECT:IDENTITY and the like; of a derivation how it
is known: columns, lineage, declared, renamed.

Between them: (PipelineRun)-[:RUN_OF]->(Job), (Source|Artifact)-[:VERSION_OF]->(Dataset),
(Dataset)-[:HAS_COLUMN]->(Column), (Dataset|Artifact)-[:HAS_SCHEMA]->(SchemaVersion),
(Symlink)-[:SYMLINK_OF]->(Dataset). A walk over FEEDS|PRODUCED|CITED_BY therefore never leaves its layer.

A job may have a million runs, a dataset as many versions, and all of them hang on one node. So they are asked for by
indexes in the order of time: runs by namespace, pipelineName and startedAt; versions by dataset, complete, createdAt,
and those that took long by dataset and begunAt.
Edges to what such an order misses have `aside`, the urn of the job or dataset, and are found by that: RUN_OF of a run
that goes by the name of another of its jobs or was never told to have begun, VERSION_OF of a version of which nobody
told whether it is complete or when it was made. CITED_BY has `dataset` (urn), that of the version, because citations
are few among versions.

Which inputs an output came from: where it is `explicit`, what its DERIVED_FROM edges tell, even when that is nothing;
otherwise where it has DERIVED_FROM edges, those; otherwise every input of its run or job.
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
