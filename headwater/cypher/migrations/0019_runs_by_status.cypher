// The runs of a namespace with one status, in the order of their starts: the list of all runs reads
// its pages from this index and counts by it.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX pipeline_run_status_started IF NOT EXISTS
  FOR (n:PipelineRun) ON (n.namespace, n.status, n.startedAt);
