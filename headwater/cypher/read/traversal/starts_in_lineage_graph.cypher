// The datasets and jobs of some nodes of any layer: the job of a run, the dataset of a version, a capture or a column,
// the datasets of what an answer cites; a dataset and a job are their own.
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
  MATCH (:Answer {urn: urn})<-[:CITED_BY]-(:Source|Artifact)-[:VERSION_OF]->(n:Dataset) RETURN n AS found
}
WITH DISTINCT found.urn AS urn
RETURN urn ORDER BY urn
LIMIT $limit
