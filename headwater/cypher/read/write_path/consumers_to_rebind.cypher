// Return the runs and answers that are linked to the given datasets, their versions or columns, or
// that dropped them. The worker projects these again when the datasets join an alias group or leave
// one.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: run by the worker
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact)<-[:PRODUCED]-(n:PipelineRun) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact|Source)
    -[:FEEDS|CITED_BY]->(n:PipelineRun|Answer)
  RETURN n
  UNION
  MATCH (:Dataset {urn: urn})-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(n:Answer) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})<-[:DROPPED]-(n:PipelineRun) RETURN n
}
RETURN DISTINCT n.urn AS urn
