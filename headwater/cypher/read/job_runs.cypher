// The runs of some jobs, newest first, those of which no start was told before all; after the one that was begun $at
// and goes by $behind.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $behind STRING = "", $limit INTEGER = 20
// returns: urn, listed
// example: headwater cypher read/job_runs --param urns=job:spark:flights.clean --param at=9999-12-31
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, COLLECT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  WITH r, coalesce(r.startedAt, datetime('9999-12-31T00:00:00Z')) AS at
  WHERE at < $at OR (at = $at AND r.urn > $behind)
  RETURN {urn: r.urn, at: at} ORDER BY at DESC, r.urn LIMIT $limit
} AS listed
