// Mark running runs as abandoned if no event of them arrived since $before. The next event of a run
// makes it RUNNING again.
// access: write
// params: $before DATETIME, $limit INTEGER
// returns: abandoned
// example: run by the worker
CALL () {
  MATCH (r:PipelineRun)
  WHERE r.status = 'RUNNING' AND r.lastHeartbeatAt < $before
  WITH r LIMIT $limit
  SET r.status = 'ABANDONED', r.heartbeatLost = true, r.changedAt = datetime.realtime()
  FOREACH (a IN [(r)-[:PRODUCED]->(made:Artifact) WHERE NOT made.complete | made] |
    SET a.status = 'ABANDONED')
  RETURN count(r) AS abandoned
}
RETURN abandoned
