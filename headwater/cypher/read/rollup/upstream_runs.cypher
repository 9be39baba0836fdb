// Return the runs directly upstream of the given runs: those that wrote their inputs, and those
// that passed data to them.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: run by `headwater pipeline rollup`
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
CALL (r) {
  MATCH (r)<-[:FEEDS]-(:Artifact)<-[:PRODUCED]-(u:PipelineRun) RETURN u
  UNION
  MATCH (r)<-[:FEEDS]-(u:PipelineRun) RETURN u
}
RETURN DISTINCT u.urn AS urn
