// Which versions were read by runs that were not there before, and which of theirs are known to come from those.
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
UNWIND link.into AS made
MATCH (a:Artifact {urn: made})
MERGE (a)-[:DERIVED_FROM]->(v)
