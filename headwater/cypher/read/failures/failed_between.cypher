// For each row, return the newest run of the job that failed after one instant and no later than
// the other.
// access: read
// params: $rows LIST<MAP>
// returns: number, run, pipeline, failedAt
// example: run by `headwater root-cause`
UNWIND $rows AS row
WITH row, COLLECT {
  MATCH (f:PipelineRun)
  USING INDEX SEEK f:PipelineRun(status, failedAt)
  WHERE f.status = 'FAIL' AND f.failedAt > row.after AND f.failedAt <= row.until
    AND EXISTS { (f)-[:RUN_OF]->(:Job {urn: row.job}) }
  RETURN f ORDER BY f.status DESC, f.failedAt DESC LIMIT 1
}[0] AS failed
WHERE failed IS NOT NULL
RETURN row.number AS number, failed.urn AS run, failed.pipelineName AS pipeline,
  failed.failedAt AS failedAt
