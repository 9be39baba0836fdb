// Runs by the trace ids that they name, and the runs with traces in the order of their starts. Runs
// without traces are in neither index.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE FULLTEXT INDEX traces IF NOT EXISTS FOR (n:PipelineRun) ON EACH [n.traceIds]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}};
CREATE INDEX pipeline_run_traced IF NOT EXISTS FOR (n:PipelineRun) ON (n.startedAt, n.traceCount);
