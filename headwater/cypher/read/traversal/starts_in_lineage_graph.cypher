// Return the datasets and jobs where a traversal of the lineage graph from the given nodes starts.
// A run starts at its job. A version, a captured source or a column starts at its dataset. An
// answer starts at the datasets that it cites, a dataset or a job at itself.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1001
// returns: urn
// example: headwater cypher read/traversal/starts_in_lineage_graph --param urns=run:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn}) RETURN n AS found
  UNION
  MATCH (n:Job {urn: urn}) RETURN n AS found
  UNION
  MATCH (:PipelineRun {urn: urn})-[:RUN_OF]->(n:Job) RETURN n AS found
  UNION
  MATCH (:Artifact {urn: urn})-[:VERSION_OF]->(n:Dataset) RETURN n AS found
  UNION
  MATCH (:Source {urn: urn})-[:VERSION_OF]->(n:Dataset) RETURN n AS found
  UNION
  MATCH (:Column {urn: urn})<-[:HAS_COLUMN]-(n:Dataset) RETURN n AS found
  UNION
  MATCH (:Answer {urn: urn})<-[:CITED_BY]-(:Source|Artifact)-[:VERSION_OF]->(n:Dataset)
    RETURN n AS found
}
WITH DISTINCT found.urn AS urn
RETURN urn ORDER BY urn
LIMIT $limit
