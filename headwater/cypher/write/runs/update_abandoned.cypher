// Update the status of unfinished runs: of $urns and of every run within $above. A run is abandoned
// if a run that contains it (up to eight levels up) ended at or after its last event, or if its
// heartbeat was lost. A run without events has no last event. A run whose producer reports no
// success is complete if the attempt of its parent in which it started is.
// access: write
// params: $urns LIST<STRING>, $above LIST<STRING>
// returns: nothing
// example: run by the worker
CALL () {
  UNWIND $urns AS urn
  MATCH (r:PipelineRun {urn: urn})
  RETURN r
  UNION
  UNWIND $above AS urn
  MATCH (a:PipelineRun {urn: urn})
  WHERE EXISTS { (a)<-[:PART_OF]-() }
  MATCH (a)<-[:PART_OF]-{1,8}(r:PipelineRun)
  RETURN r
}
WITH DISTINCT r
WHERE r.status IN ['RUNNING', 'ABANDONED'] OR r.endUnreported
WITH r, CASE
  WHEN r.endUnreported AND EXISTS {
    (r)-[:PART_OF]->(p:PipelineRun {status: 'COMPLETE'})
    WHERE p.startedAt <= r.startedAt AND r.lastSeen <= p.finishedAt
  } THEN 'COMPLETE'
  WHEN r.heartbeatLost OR EXISTS {
    (r)-[:PART_OF]->{1,8}(a:PipelineRun)
    WHERE coalesce(a.lastEnd, a.finishedAt) >= coalesce(r.lastSeen, a.lastEnd, a.finishedAt)
  } THEN 'ABANDONED'
  ELSE 'RUNNING' END AS status
SET r.changedAt = CASE WHEN r.status = status THEN r.changedAt ELSE datetime.realtime() END,
    r.status = status
WITH r, status
MATCH (r)-[:PRODUCED]->(a:Artifact)
WHERE NOT a.complete
SET a.status = status
