// Indexes for questions asked by the names and ids people know, as auditors paste them: without these each would scan
// a whole label.
// access: schema
// params: none
// returns: nothing
// example: headwater migrate
CREATE INDEX answer_id IF NOT EXISTS FOR (n:Answer) ON (n.answerId);
CREATE INDEX pipeline_run_id IF NOT EXISTS FOR (n:PipelineRun) ON (n.runId);
CREATE INDEX dataset_name IF NOT EXISTS FOR (n:Dataset) ON (n.name);
CREATE INDEX job_name IF NOT EXISTS FOR (n:Job) ON (n.name);
CREATE INDEX source_captured IF NOT EXISTS FOR (n:Source) ON (n.capturedAt);
