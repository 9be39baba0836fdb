// Count runs whose events arrived after their horizon.
// access: write
// params: $late INTEGER
// returns: nothing
// example: run by the worker
MATCH (r:Retention {name: 'graph'})
SET r.lateRuns = coalesce(r.lateRuns, 0) + $late
