// The jobs whose runs began in a window and read a dataset, the costliest first: how many runs, when the last began, the
// rows and bytes that they say they read of it, and its even share of their seconds. Which jobs may have read it the map
// knows, so that of a dataset that a million runs have read only those of the window are looked at, the newest $most of
// them. Of each job its urn and owners, how many runs were looked at (also where none of them read it), how many read
// it, when the last began, rows, bytes and seconds: in one row, since there may be thousands of jobs.
// access: read
// params: $urn STRING, $since DATETIME, $until DATETIME, $sees LIST<STRING> = null, $most INTEGER = 20000,
//   $limit INTEGER = 5000
// returns: consumers
// example: headwater usage dataset:file:/raw/planes
MATCH (:Dataset {urn: $urn})-[:FEEDS]->(reader:Job)
WITH DISTINCT reader
CALL (reader) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name
    AND r.startedAt >= $since AND r.startedAt < $until
    AND ($sees IS NULL OR any(p IN $sees WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) })
  RETURN r, reader AS j ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT $most
  UNION
  MATCH (r:PipelineRun)-[aside:RUN_OF]->(:Job)
  USING INDEX SEEK aside:RUN_OF(aside)
  WHERE aside.aside = reader.urn AND r.startedAt >= $since AND r.startedAt < $until
    AND ($sees IS NULL OR any(p IN $sees WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) })
  RETURN r, COLLECT {
    MATCH (r)-[:RUN_OF]->(j:Job)
    RETURN j ORDER BY j.namespace = r.namespace AND j.name = r.pipelineName DESC, j.urn LIMIT 1
  }[0] AS j
}
WITH DISTINCT r, j ORDER BY r.startedAt DESC LIMIT $most
MATCH (v:Artifact|Source)-[e:FEEDS]->(r)
WITH r, j, v.dataset = $urn AS ours, e,
  CASE WHEN $sees IS NULL OR any(p IN $sees WHERE v.namespace =~ p) THEN v.dataset END AS input
WITH r, j, count(CASE WHEN ours THEN 1 END) > 0 AS reads, max(CASE WHEN ours THEN e.rowCount END) AS rows,
  max(CASE WHEN ours THEN e.bytes END) AS bytes, count(DISTINCT input) AS inputs
WITH j, count(r) AS looked, count(CASE WHEN reads THEN 1 END) AS runs,
  max(CASE WHEN reads THEN r.startedAt END) AS lastRead, sum(rows) AS rows, count(rows) AS rowsTold,
  sum(bytes) AS bytes, count(bytes) AS bytesTold, sum(CASE WHEN reads AND r.finishedAt > r.startedAt
    THEN (r.finishedAt.epochMillis - r.startedAt.epochMillis) / 1000.0 / inputs ELSE 0.0 END) AS seconds
WITH j.urn AS job, j.owners AS owners, looked, runs, lastRead, CASE WHEN rowsTold > 0 THEN rows END AS rows,
  CASE WHEN bytesTold > 0 THEN bytes END AS bytes, seconds
ORDER BY runs > 0 DESC, seconds DESC, job
LIMIT $limit
RETURN collect([job, owners, looked, runs, lastRead, rows, bytes, seconds]) AS consumers
