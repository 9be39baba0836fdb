// The history of some nodes of any layer in a range of time, newest first: the versions and captures of a dataset (for
// a column of its dataset), the runs of a job; what is history itself is its own, whenever it was.
// access: read
// params: $urns LIST<STRING>, $since DATETIME = null, $until DATETIME = null, $limit INTEGER = 1001
// returns: urn
// example: headwater cypher read/starts_in_history --param urns=job:spark:flights.clean
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:PipelineRun {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:Artifact {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:Source {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:Answer {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:PipelineRun)-[:RUN_OF]->(:Job {urn: urn}) RETURN n AS found, n.startedAt AS first, n.finishedAt AS last
  UNION
  MATCH (n:Artifact|Source)-[:VERSION_OF]->(:Dataset {urn: urn})
  RETURN n AS found, coalesce(n.createdAt, n.capturedAt) AS first, coalesce(n.createdAt, n.capturedAt) AS last
  UNION
  MATCH (n:Artifact|Source)-[:VERSION_OF]->(:Dataset)-[:HAS_COLUMN]->(:Column {urn: urn})
  RETURN n AS found, coalesce(n.createdAt, n.capturedAt) AS first, coalesce(n.createdAt, n.capturedAt) AS last
}
WITH found.urn AS urn, max(first) AS first, max(last) AS last
WHERE ($since IS NULL OR last IS NULL OR last >= $since) AND ($until IS NULL OR first IS NULL OR first <= $until)
RETURN urn ORDER BY first DESC, urn
LIMIT $limit
