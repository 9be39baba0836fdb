// An answer cites this version of a dataset, this column, or this other answer.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Answer {urn: row.consumer})
CALL (row) {
  MATCH (v:Artifact {urn: row.version}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: row.version}) RETURN v
  UNION ALL
  MATCH (v:Column {urn: row.version}) RETURN v
  UNION ALL
  MATCH (v:Answer {urn: row.version}) RETURN v
}
MERGE (v)-[e:CITED_BY]->(a)
SET e += row.properties
