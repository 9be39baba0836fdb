// Return a page of the runs of the given jobs, oldest first. Runs without a start time come last
// of all. The page starts after the run that began $cursorTime with the urn $cursorUrn. $visible:
// the namespaces
// in which all jobs of a run must lie, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $cursorTime DATETIME, $cursorUrn STRING = "", $visible LIST<STRING> =
//   null, $limit
//   INTEGER = 20
// returns: urn, listed
// example: headwater cypher read/nodes/job_runs --param urns=job:spark:flights.clean --param
//   cursorTime=1970-01-01
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, COLLECT {
  CALL (j) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt >= $cursorTime
      AND NOT (r.startedAt = $cursorTime AND r.urn >= $cursorUrn) AND EXISTS { (r)-[:RUN_OF]->(j) }
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r.urn AS run, r.startedAt AS at
    ORDER BY r.namespace, r.pipelineName, r.startedAt, r.urn DESC LIMIT $limit
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn
    WITH r, coalesce(r.startedAt, datetime('9999-12-31T00:00:00Z')) AS at
    WHERE (at > $cursorTime OR (at = $cursorTime AND r.urn < $cursorUrn))
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r.urn AS run, at ORDER BY at, run DESC LIMIT $limit
  }
  RETURN {urn: run, at: at} ORDER BY at, run DESC LIMIT $limit
} AS listed
