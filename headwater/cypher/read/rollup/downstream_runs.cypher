// The runs directly downstream of some runs and versions: those that read what the runs made, or these versions, or
// took the data of the runs.
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
