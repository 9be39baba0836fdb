// Set properties of runs that the graph has. A run that has ended has no heartbeat.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (n:PipelineRun {urn: row.urn})
SET n += row.properties,
    n.changedAt = datetime.realtime(),
    n.lastHeartbeatAt = CASE
      WHEN NOT row.running THEN null
      WHEN n.lastHeartbeatAt >= row.heartbeat THEN n.lastHeartbeatAt
      ELSE coalesce(row.heartbeat, n.lastHeartbeatAt) END
