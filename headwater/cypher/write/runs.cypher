// Set the nodes of some runs to what their facts say. Of one that has ended nothing more needs to be heard.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (n:PipelineRun {urn: row.urn})
SET n += row.properties,
    n.changedAt = datetime.realtime(),
    n.heardAt = CASE
      WHEN NOT row.running THEN null
      WHEN n.heardAt >= row.heard THEN n.heardAt
      ELSE coalesce(row.heard, n.heardAt) END
