// Count runs that were told of after their detail had had its time.
// access: write
// params: $late INTEGER
// returns: nothing
// example: run by the worker
MATCH (r:Retention {name: 'graph'})
SET r.lateRuns = coalesce(r.lateRuns, 0) + $late
