// Return the jobs whose newest ended run failed. This is a scan over all jobs, to find them.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 5000
// returns: urn
// example: headwater figures open-actions
MATCH (j:Job)
WHERE j.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  AND NOT EXISTS { (part:Job)-[:PART_OF]->(j)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p) }
WITH j, COLLECT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
    AND r.status IN ['COMPLETE', 'FAIL', 'ABORT']
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r.status
  ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn DESC LIMIT 1
}[0] AS status
WHERE status = 'FAIL'
RETURN j.urn AS urn
ORDER BY urn
LIMIT $limit
