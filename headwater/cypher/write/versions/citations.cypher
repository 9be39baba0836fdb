// Link answers to the versions, columns and answers they cite. The edge has the dataset of the
// version, because citations are few among very many versions.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Answer {urn: row.consumer})
UNWIND row.links AS link
CALL (link) {
  MATCH (v:Artifact {urn: link.version}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: link.version}) RETURN v
  UNION ALL
  MATCH (v:Column {urn: link.version}) RETURN v
  UNION ALL
  MATCH (v:Answer {urn: link.version}) RETURN v
}
MERGE (v)-[e:CITED_BY]->(a)
SET e += link.properties, e.dataset = CASE WHEN v:Artifact OR v:Source THEN v.dataset END
