// Set which datasets a job writes now: those of its newest run that succeeded and named any,
// declared ones, and those that name the job as their producer. Without a run and a declaration,
// all but the datasets that no longer name it. Of runs that ended at the same instant, the greatest
// urn counts.
// access: write
// params: $urns LIST<STRING>
// returns: job, finished, run, used
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
WITH l, j, COLLECT {
  UNWIND ['both', 'writes'] AS sides
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
  UNWIND ['both', 'writes'] AS sides
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
      AND r.finishedAt = last
  RETURN r ORDER BY r.urn DESC LIMIT 1
}[0] AS newest
WITH l, j, newest, COLLECT {
  MATCH (newest)-[:PRODUCED]->(v:Artifact) RETURN DISTINCT v.dataset
} AS used
CALL (l, j, newest, used) {
  MATCH (j)-[e:PRODUCED]->(d:Dataset)
  WITH l, j, d, e, coalesce(e.declared, false) OR d.urn IN used
    OR coalesce(e.assertedByDataset, false)
    OR (newest IS NULL AND NOT coalesce(j.declaresOutputs, false)
      AND e.assertedByDataset IS NULL) AS current
  WHERE e.current IS NULL OR e.current <> current
  SET e.current = current, d.lineageRevision = l.revision, j.lineageRevision = l.revision
}
RETURN j.urn AS job, newest.finishedAt AS finished, newest.urn AS run, used
