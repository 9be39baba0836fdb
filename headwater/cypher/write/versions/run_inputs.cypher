// Link runs to the versions they read.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.consumer})
UNWIND row.links AS link
CALL (link) {
  MATCH (v:Artifact {urn: link.version}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: link.version}) RETURN v
}
MERGE (v)-[e:FEEDS]->(r)
SET e += link.properties
