// Return the runs directly downstream of the given runs and versions: readers of those versions, of
// outputs of those runs, and of up to 1,000 later versions that kept their content. Runs that took
// data from the given runs count too.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: run by `headwater pipeline rollup`
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:PipelineRun {urn: urn})-[:PRODUCED]->(:Artifact)
    (()-[:FEEDS]->(:Artifact)){0,1000} (v:Artifact)
  WITH DISTINCT v
  MATCH (v)-[:FEEDS]->(d:PipelineRun) RETURN d
  UNION
  MATCH (:PipelineRun {urn: urn})-[:FEEDS]->(d:PipelineRun) RETURN d
  UNION
  MATCH (:Artifact {urn: urn}) (()-[:FEEDS]->(:Artifact)){0,1000} (v:Artifact)
  WITH DISTINCT v
  MATCH (v)-[:FEEDS]->(d:PipelineRun) RETURN d
  UNION
  MATCH (:Source {urn: urn})-[:FEEDS]->(d:PipelineRun) RETURN d
}
RETURN DISTINCT d.urn AS urn
