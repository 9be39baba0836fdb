// Judge afresh whether runs that never ended are abandoned: these, and all that are part of those above. One is, when
// a run it is part of (up to eight levels up) ended at or after its last sign of life, or when it was found silent. One
// that was only named, and never heard of, gave no sign.
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
WHERE r.status IN ['RUNNING', 'ABANDONED']
WITH r, CASE
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
