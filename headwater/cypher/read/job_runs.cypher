// The runs of some jobs, newest first, those of which no start was told before all; after the one that was begun $at
// and goes by $behind. $sees: of which namespaces all that a run is said to be a run of must be; null: of any.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $behind STRING = "", $sees LIST<STRING> = null, $limit INTEGER = 20
// returns: urn, listed
// example: headwater cypher read/job_runs --param urns=job:spark:flights.clean --param at=9999-12-31
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, COLLECT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  WITH r, coalesce(r.startedAt, datetime('9999-12-31T00:00:00Z')) AS at
  WHERE (at < $at OR (at = $at AND r.urn > $behind))
    AND ($sees IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) })
  RETURN {urn: r.urn, at: at} ORDER BY at DESC, r.urn LIMIT $limit
} AS listed
