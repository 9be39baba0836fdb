// Delete runs whose events belong to another run after all. The versions they wrote are withdrawn
// before.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
DETACH DELETE r
