// Return the runs and answers that may have to be linked to another version because one appeared or
// changed its time. These are the consumers of that version and of the versions around the instants
// between which it moved. Without an earlier complete version, the consumers of the source, of the
// newest incomplete versions before and of every later version count. A run does not read its own
// versions. So of each kind the newest is read, and of the eight newest those up to the first that
// another run wrote, with all of the same instant. The order is that of the index artifact_version.
// The statement names the index, because the planner would scan with the statistics of a young
// graph. Runs that requested the version by the name of its producer count too, and runs triggered
// by the run that wrote it.
// access: read
// params: $rows LIST<MAP>
// returns: urn
// example: run by the worker
UNWIND $rows AS row
CALL (row) {
  MATCH (a:Artifact {urn: row.artifact})
  RETURN a AS version
  UNION
  UNWIND row.instants AS instant
  WITH row, COLLECT {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt <= instant
      AND a.urn <> row.artifact
    RETURN [a.createdAt, a.runId] ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 8
  } AS before
  UNWIND [i IN range(0, size(before) - 1)
    WHERE all(j IN range(0, i - 1) WHERE before[j][1] = before[0][1])] AS i
  WITH DISTINCT row, before[i][0] AS made
  CALL (row, made) {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt = made
    RETURN a
  }
  RETURN a AS version
  UNION
  WITH row, COLLECT {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt < row.since
      AND a.urn <> row.artifact
    RETURN a.runId ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 8
  } AS runs
  WITH row WHERE all(run IN runs WHERE run = runs[0])
  CALL (row) {
    MATCH (s:Source {dataset: row.dataset})
    USING INDEX SEEK s:Source(dataset)
    RETURN s AS earlier
    UNION ALL
    WITH row, COLLECT {
      MATCH (a:Artifact)
      USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
      WHERE a.dataset = row.dataset AND a.complete = false AND a.createdAt <= row.since
        AND a.urn <> row.artifact
      RETURN [a.createdAt, a.runId] ORDER BY a.dataset DESC, a.complete DESC,
        a.createdAt DESC LIMIT 8
    } AS before
    UNWIND [i IN range(0, size(before) - 1)
      WHERE all(j IN range(0, i - 1) WHERE before[j][1] = before[0][1])] AS i
    WITH DISTINCT row, before[i][0] AS made
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = row.dataset AND a.complete = false AND a.createdAt = made
    RETURN a AS earlier
    UNION ALL
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = row.dataset AND a.complete IN [true, false] AND a.createdAt >= row.since
    RETURN a AS earlier
  }
  RETURN earlier AS version
}
MATCH (version)-[:FEEDS|CITED_BY]->(consumer:PipelineRun|Answer)
WHERE coalesce(consumer.startedAt, consumer.generatedAt) >= row.since OR version.urn = row.artifact
RETURN DISTINCT consumer.urn AS urn
UNION
UNWIND $rows AS row
UNWIND row.requested AS requested
MATCH ()-[e:FEEDS]->(consumer:PipelineRun)
USING INDEX SEEK e:FEEDS(requestedVersion)
WHERE e.requestedVersion = requested
RETURN DISTINCT consumer.urn AS urn
UNION
UNWIND $rows AS row
MATCH (a:Artifact {urn: row.artifact})
USING INDEX SEEK a:Artifact(urn)
MATCH (a)<-[:PRODUCED]-(:PipelineRun)-[:TRIGGERS]->{1,5}(consumer:PipelineRun)
RETURN DISTINCT consumer.urn AS urn
