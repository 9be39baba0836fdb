// The runs that were written last, for whoever is told of them as it happens.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX pipeline_run_changed IF NOT EXISTS FOR (n:PipelineRun) ON (n.changedAt);
