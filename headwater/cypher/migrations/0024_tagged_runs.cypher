// The runs that have tags, of a namespace with one status, in the order of their starts. Runs without
// tags are not in this index.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX pipeline_run_tagged IF NOT EXISTS
  FOR (n:PipelineRun) ON (n.namespace, n.status, n.startedAt, n.tags);
