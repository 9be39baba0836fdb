// Set the nodes of some runs to what their facts say.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (n:PipelineRun {urn: row.urn})
SET n += row.properties,
    n.changedAt = datetime.realtime(),
    n.heardAt = CASE WHEN n.heardAt >= row.heard THEN n.heardAt ELSE coalesce(row.heard, n.heardAt) END
