// Return the cost of jobs, dearest first, with their owners: the duration of their runs, the part
// spent on runs that did not complete, and the bytes read and written. A run that contains others
// is excluded, since its time is theirs.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $until DATETIME = "9999-01-01T00:00:00Z",
//   $limit INTEGER = 100
// returns: namespace, pipeline, owners, runs, seconds, wasted, bytesRead, bytesWritten
// example: headwater cypher cost --param since=2026-01-01 --param limit=10
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until
  AND NOT EXISTS { (:PipelineRun)-[:PART_OF]->(r) }
CALL (r) {
  OPTIONAL MATCH ()-[f:FEEDS]->(r)
  RETURN sum(f.bytes) AS readHere
}
CALL (r) {
  OPTIONAL MATCH (r)-[:PRODUCED]->(a:Artifact)
  RETURN sum(a.bytes) AS wroteHere
}
WITH r, readHere, wroteHere,
  coalesce((r.finishedAt.epochMillis - r.startedAt.epochMillis) / 1000.0, 0.0) AS took,
  head(COLLECT { MATCH (r)-[:RUN_OF]->(j:Job) RETURN j.owners }) AS owners
RETURN r.namespace AS namespace, r.pipelineName AS pipeline, owners, count(*) AS runs,
  round(sum(took), 3) AS seconds,
  round(sum(CASE WHEN r.status <> 'COMPLETE' THEN took ELSE 0.0 END), 3) AS wasted,
  toInteger(sum(readHere)) AS bytesRead,
  toInteger(sum(wroteHere)) AS bytesWritten
ORDER BY seconds DESC, namespace, pipeline
LIMIT $limit
