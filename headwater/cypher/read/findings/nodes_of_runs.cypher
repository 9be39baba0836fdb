// Return the jobs of the given runs and of the runs that contain them, and the datasets of the
// versions that they read, wrote or dropped.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: headwater cypher read/findings/nodes_of_runs --param urns=run:1,run:2
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
CALL (r) {
  MATCH (r)-[:RUN_OF]->(j:Job) RETURN j.urn AS node
  UNION
  MATCH (r)-[:PART_OF]->{1,8}(:PipelineRun)-[:RUN_OF]->(j:Job) RETURN j.urn AS node
  UNION
  MATCH (r)<-[:FEEDS]-(v:Artifact|Source) RETURN v.dataset AS node
  UNION
  MATCH (r)-[:PRODUCED]->(v:Artifact) RETURN v.dataset AS node
  UNION
  MATCH (r)-[:DROPPED]->(d:Dataset) RETURN d.urn AS node
}
RETURN DISTINCT node AS urn
