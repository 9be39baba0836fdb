// Return the columns where a column traversal from the given nodes starts. A dataset starts at its
// current columns, or at all known ones if no schema was ever reported. A job or a run starts at
// the columns of its outputs. A version or a captured source starts at the columns of its dataset.
// An answer starts at the columns that it cites, a column at itself.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1001
// returns: urn
// example: headwater cypher read/traversal/starts_in_columns --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (c:Column {urn: urn}) RETURN c
  UNION
  MATCH (d:Dataset {urn: urn})-[:HAS_COLUMN]->(c:Column) WHERE c.current OR d.columns IS NULL
    RETURN c
  UNION
  MATCH (:Job {urn: urn})-[p:PRODUCED]->(d:Dataset)-[:HAS_COLUMN]->(c:Column)
  WHERE p.current AND (c.current OR d.columns IS NULL) RETURN c
  UNION
  MATCH (:PipelineRun {urn: urn})-[:PRODUCED]->(:Artifact)-[:VERSION_OF]->(d:Dataset)
    -[:HAS_COLUMN]->(c:Column)
  WHERE c.current OR d.columns IS NULL RETURN c
  UNION
  MATCH (:Artifact {urn: urn})-[:VERSION_OF]->(d:Dataset)-[:HAS_COLUMN]->(c:Column)
  WHERE c.current OR d.columns IS NULL RETURN c
  UNION
  MATCH (:Source {urn: urn})-[:VERSION_OF]->(d:Dataset)-[:HAS_COLUMN]->(c:Column)
  WHERE c.current OR d.columns IS NULL RETURN c
  UNION
  MATCH (:Answer {urn: urn})<-[:CITED_BY]-(c:Column) RETURN c
}
WITH DISTINCT c.urn AS urn
RETURN urn ORDER BY urn
LIMIT $limit
