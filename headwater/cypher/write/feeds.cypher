// A run read this version of a dataset.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.consumer})
CALL (row) {
  MATCH (v:Artifact {urn: row.version}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: row.version}) RETURN v
}
MERGE (v)-[e:FEEDS]->(r)
SET e += row.properties
