// Set which datasets a job reads now: those of its newest run that succeeded and named any, and
// declared ones. Without both, all inputs are current. Of runs that ended at the same instant, the
// greatest urn counts.
// access: write
// params: $urns LIST<STRING>
// returns: job, finished, run, used
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
WITH l, j, COLLECT {
  UNWIND ['both', 'reads'] AS sides
  CALL (j, sides) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
      AND r.finishedAt IS NOT NULL
    RETURN r.finishedAt AS finished
    ORDER BY r.namespace DESC, r.pipelineName DESC, r.reportedSides DESC, r.finishedAt DESC LIMIT 1
  }
  RETURN finished ORDER BY finished DESC LIMIT 1
}[0] AS last
WITH l, j, last, COLLECT {
  UNWIND ['both', 'reads'] AS sides
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
      AND r.finishedAt = last
  RETURN r ORDER BY r.urn DESC LIMIT 1
}[0] AS newest
WITH l, j, newest, COLLECT {
  MATCH (v:Source|Artifact)-[:FEEDS]->(newest) RETURN DISTINCT v.dataset
} AS used
CALL (l, j, newest, used) {
  MATCH (d:Dataset)-[e:FEEDS]->(j)
  WITH l, j, d, e, coalesce(e.declared, false) OR d.urn IN used
    OR (newest IS NULL AND NOT coalesce(j.declaresInputs, false)) AS current
  WHERE e.current IS NULL OR e.current <> current
  SET e.current = current, d.lineageRevision = l.revision, j.lineageRevision = l.revision
}
RETURN j.urn AS job, newest.finishedAt AS finished, newest.urn AS run, used
