// Return the runs whose events named one of the given runs: as the run that contains them, or as
// one before them.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: headwater cypher read/write_path/runs_naming --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:PipelineRun {urn: urn})
CALL (n) {
  MATCH (n)<-[:PART_OF]-(r:PipelineRun) RETURN r
  UNION
  MATCH (n)-[:TRIGGERS|FEEDS]->(r:PipelineRun) RETURN r
}
RETURN DISTINCT r.urn AS urn
