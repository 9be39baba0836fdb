// Date failed runs at the last failure of their last attempt, which `finishedAt` holds. Each
// statement commits every 10,000 rows; a second run finds only the rows that still differ.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt < r.finishedAt
CALL (r) {
  SET r.failedAt = r.finishedAt
} IN TRANSACTIONS OF 10000 ROWS;
