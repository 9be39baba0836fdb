// Link new runs to the versions they read, and the versions they wrote to their known origins among
// those.
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
CREATE (v)-[e:FEEDS]->(r)
SET e = link.properties
WITH v, link
UNWIND link.derived AS made
MATCH (a:Artifact {urn: made})
MERGE (a)-[:DERIVED_FROM]->(v)
