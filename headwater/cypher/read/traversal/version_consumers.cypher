// Make one hop downstream in the run history. Return the runs that read the given versions.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun
// example: headwater cypher read/traversal/version_consumers --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (v:Artifact {urn: urn}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: urn}) RETURN v
}
MATCH (v)-[:FEEDS]->(r:PipelineRun)
RETURN urn AS datasetOrVersion, r.urn AS jobOrRun
LIMIT $limit
