// Return the start of the newest run or answer, and whether any run triggers another.
// access: read
// params: none
// returns: at, triggers
// example: run by the worker
RETURN COLLECT {
  MATCH (r:PipelineRun) USING INDEX r:PipelineRun(startedAt)
  WHERE r.startedAt IS NOT NULL
  RETURN r.startedAt ORDER BY r.startedAt DESC LIMIT 1
} + COLLECT {
  MATCH (a:Answer) USING INDEX a:Answer(generatedAt)
  WHERE a.generatedAt IS NOT NULL
  RETURN a.generatedAt ORDER BY a.generatedAt DESC LIMIT 1
} AS at, COUNT { (:PipelineRun)-[:TRIGGERS]->() } AS triggers
