// Return those of the given jobs whose newest run by an instant failed or was stopped, with that
// run. $visible: the namespaces in which all jobs of a run must lie, as regular expressions; null:
// any.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $visible LIST<STRING> = null
// returns: urn, last
// example: headwater cypher read/nodes/failing_jobs --param urns=job:spark:flights.clean --param
//   at=9999-12-31
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
CALL (j) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt <= $at
    AND EXISTS { (r)-[:RUN_OF]->(j) }
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT 1
  UNION
  MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
  USING INDEX SEEK e:RUN_OF(indexedUnder)
  WHERE e.indexedUnder = j.urn AND coalesce(r.startedAt, r.finishedAt, $at) <= $at
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r ORDER BY r.startedAt DESC, r.urn LIMIT 1
}
WITH urn, r ORDER BY coalesce(r.startedAt, r.finishedAt, r.lastSeen) DESC
WITH urn, collect(r)[0] AS last
WHERE last.status IN ['FAIL', 'ABORT']
RETURN urn, last {.status, .startedAt, .finishedAt, .failedAt} AS last
