// One index in place of two for the newest run of a job that told what it read or wrote. In a graph from before this
// no run has `told`: `headwater rebuild` makes it anew.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
DROP INDEX pipeline_run_reader IF EXISTS;
DROP INDEX pipeline_run_writer IF EXISTS;
CREATE INDEX pipeline_run_told IF NOT EXISTS FOR (n:PipelineRun) ON (n.namespace, n.pipelineName, n.told, n.finishedAt);
