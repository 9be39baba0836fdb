// The jobs whose runs began in a window and read a dataset, the costliest first: how many runs, when the last began, the
// rows and bytes that they say they read of it, and its even share of their seconds. Which jobs may have read it the map
// knows, so that of a dataset that a million runs have read only those of the window are looked at.
// access: read
// params: $urn STRING, $since DATETIME, $until DATETIME, $sees LIST<STRING> = null, $limit INTEGER = 5000
// returns: job, owners, runs, lastRead, rows, bytes, seconds
// example: headwater usage dataset:file:/raw/planes
MATCH (:Dataset {urn: $urn})-[:FEEDS]->(reader:Job)
CALL (reader) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name
    AND r.startedAt >= $since AND r.startedAt < $until
  RETURN r
  UNION
  MATCH (r:PipelineRun)-[aside:RUN_OF]->(:Job)
  USING INDEX SEEK aside:RUN_OF(aside)
  WHERE aside.aside = reader.urn AND r.startedAt >= $since AND r.startedAt < $until
  RETURN r
}
WITH DISTINCT r
WHERE $sees IS NULL OR any(p IN $sees WHERE r.namespace =~ p)
  AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) }
MATCH (v:Artifact|Source)-[e:FEEDS]->(r)
WHERE v.dataset = $urn
WITH r, max(e.rowCount) AS rows, max(e.bytes) AS bytes
WITH r, rows, bytes, COUNT {
  MATCH (r)<-[:FEEDS]-(v:Artifact|Source)
  WHERE $sees IS NULL OR any(p IN $sees WHERE v.namespace =~ p)
  RETURN DISTINCT v.dataset
} AS inputs, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j ORDER BY j.namespace = r.namespace AND j.name = r.pipelineName DESC, j.urn LIMIT 1
}[0] AS j
WHERE j IS NOT NULL
WITH j, count(r) AS runs, max(r.startedAt) AS lastRead, sum(rows) AS rows, count(rows) AS rowsTold,
  sum(bytes) AS bytes, count(bytes) AS bytesTold, sum(CASE WHEN r.finishedAt > r.startedAt
    THEN (r.finishedAt.epochMillis - r.startedAt.epochMillis) / 1000.0 / inputs ELSE 0.0 END) AS seconds
RETURN j.urn AS job, j.owners AS owners, runs, lastRead, CASE WHEN rowsTold > 0 THEN rows END AS rows,
  CASE WHEN bytesTold > 0 THEN bytes END AS bytes, seconds
ORDER BY seconds DESC, job
LIMIT $limit
