// Return the runs directly upstream of the given runs: those that wrote their inputs, those that
// passed data to them, and those whose content their outputs kept, over the nearest 25 appends.
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
  UNION
  MATCH (r)-[:PRODUCED]->(:Artifact)<-[:FEEDS*1..25]-(kept:Artifact)
  WITH DISTINCT kept
  MATCH (kept)<-[:PRODUCED]-(u:PipelineRun) RETURN u
}
RETURN DISTINCT u.urn AS urn
