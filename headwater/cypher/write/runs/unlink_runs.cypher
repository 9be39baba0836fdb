// Delete the edges of runs to their jobs, to the runs before them and to the datasets they dropped,
// before the edges of now are written.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
CALL (r) {
  MATCH (r)-[e:RUN_OF|DROPPED]->(:Job|Dataset)
  DELETE e
}
CALL (r) {
  MATCH (r)<-[e:TRIGGERS|FEEDS]-(:PipelineRun)
  DELETE e
}
