// Indexes for the questions asked most: which version of a dataset was current, which runs failed.
// access: schema
// params: none
// returns: nothing
// example: headwater migrate
CREATE INDEX artifact_version IF NOT EXISTS FOR (n:Artifact) ON (n.dataset, n.complete, n.createdAt);
CREATE INDEX source_dataset IF NOT EXISTS FOR (n:Source) ON (n.dataset);
CREATE INDEX pipeline_run_failed IF NOT EXISTS FOR (n:PipelineRun) ON (n.status, n.failedAt);
CREATE INDEX pipeline_run_started IF NOT EXISTS FOR (n:PipelineRun) ON (n.startedAt);
CREATE INDEX answer_generated IF NOT EXISTS FOR (n:Answer) ON (n.generatedAt);
