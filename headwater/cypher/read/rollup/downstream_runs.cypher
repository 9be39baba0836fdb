// Return the runs directly downstream of the given runs and versions: readers of those versions,
// readers of outputs of those runs, and runs that took data from them.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: run by `headwater pipeline rollup`
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:PipelineRun {urn: urn})-[:PRODUCED]->(:Artifact)-[:FEEDS]->(d:PipelineRun) RETURN d
  UNION
  MATCH (:PipelineRun {urn: urn})-[:FEEDS]->(d:PipelineRun) RETURN d
  UNION
  MATCH (:Artifact {urn: urn})-[:FEEDS]->(d:PipelineRun) RETURN d
  UNION
  MATCH (:Source {urn: urn})-[:FEEDS]->(d:PipelineRun) RETURN d
}
RETURN DISTINCT d.urn AS urn
