// Return the variables of policies that the given datasets, jobs and answers have themselves, at an
// instant. `updated` is the newest complete version of a dataset or the newest capture of its
// source, the end of the last successful run of a job, or the time of an answer. `oldest` is the
// oldest version after the last overwrite that is known as one. `source` is a dataset's version
// that no known run produced. Without $withUpdated all three are null.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $withUpdated BOOLEAN = true,
//   $withOldest BOOLEAN = false
// returns: urn, kind, namespace, name, type, tags, owners, description, deprecated, dropped,
//   created, lastSeen, updated, oldest, source, columns, approvals
// example: headwater cypher read/policies/nodes --param urns=dataset:file:/raw/planes --param
//   at=9999-12-31
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn})
  WITH n, CASE WHEN $withUpdated THEN COLLECT {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = urn AND a.complete = true AND a.createdAt <= $at
    RETURN a.createdAt
    ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn DESC LIMIT 1
  }[0] END AS made, CASE WHEN $withUpdated THEN COLLECT {
    MATCH (s:Source)
    USING INDEX SEEK s:Source(dataset)
    WHERE s.dataset = urn
    RETURN s {.urn, .capturedAt} ORDER BY s.capturedAt DESC LIMIT 1
  }[0] END AS source
  RETURN 'dataset' AS kind, n.namespace AS namespace, n.name AS name,
    coalesce(n.type, n.subType) AS type, n.tags AS tags, n.owners AS owners,
    n.description AS description, n.deprecatedAt IS NOT NULL AS deprecated,
    coalesce(n.droppedAt, n.deletedAt) AS dropped, n.firstSeen AS created, n.lastSeen AS lastSeen,
    coalesce(made, CASE WHEN source.capturedAt <= $at THEN source.capturedAt END) AS updated,
    CASE WHEN $withOldest THEN COLLECT {
      MATCH (a:Artifact)
      USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
      WHERE a.dataset = urn AND a.complete = true AND a.createdAt <= $at
        AND a.createdAt >= coalesce(COLLECT {
          MATCH (o:Artifact)
          USING INDEX SEEK o:Artifact(dataset, complete, createdAt)
          WHERE o.dataset = urn AND o.complete = true AND o.createdAt <= $at
            AND o.writeMode = 'overwrite'
          RETURN o.createdAt
          ORDER BY o.dataset DESC, o.complete DESC, o.createdAt DESC LIMIT 1
        }[0], datetime({year: 1}))
      RETURN a.createdAt ORDER BY a.dataset, a.complete, a.createdAt LIMIT 1
    }[0] END AS oldest, source.urn AS source, n.columns AS columns,
    n.approvals AS approvals
  UNION ALL
  MATCH (n:Job {urn: urn})
  RETURN 'job' AS kind, n.namespace AS namespace, n.name AS name, n.type AS type, n.tags AS tags,
    n.owners AS owners, n.description AS description, n.deprecatedAt IS NOT NULL AS deprecated,
    n.deletedAt AS dropped, n.firstSeen AS created, n.lastSeen AS lastSeen,
    CASE WHEN $withUpdated THEN COLLECT {
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
      WHERE r.namespace = n.namespace AND r.pipelineName = n.name AND r.startedAt <= $at
        AND r.status = 'COMPLETE'
      RETURN r.finishedAt
      ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 1
    }[0] END AS updated, null AS oldest, null AS source, null AS columns,
    n.approvals AS approvals
  UNION ALL
  MATCH (n:Answer {urn: urn})
  RETURN 'answer' AS kind, null AS namespace, n.answerId AS name, n.type AS type, null AS tags,
    n.owners AS owners, null AS description, false AS deprecated, null AS dropped,
    n.generatedAt AS created, n.generatedAt AS lastSeen, n.generatedAt AS updated, null AS oldest,
    null AS source, null AS columns, null AS approvals
}
RETURN urn, kind, namespace, name, type, tags, owners, description, deprecated, dropped, created,
  lastSeen, updated, oldest, source, columns, approvals
