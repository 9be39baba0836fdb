// Indexes for what hangs on one node by the million and is asked for by time: the runs of a job, in the order in which
// they began, and the few edges that such an order would miss or that must be found among very many.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX pipeline_run_of_job IF NOT EXISTS FOR (n:PipelineRun) ON (n.namespace, n.pipelineName, n.startedAt);
CREATE INDEX run_of_aside IF NOT EXISTS FOR ()-[e:RUN_OF]-() ON (e.aside);
CREATE INDEX version_of_aside IF NOT EXISTS FOR ()-[e:VERSION_OF]-() ON (e.aside);
CREATE INDEX cited_by_dataset IF NOT EXISTS FOR ()-[e:CITED_BY]-() ON (e.dataset);
