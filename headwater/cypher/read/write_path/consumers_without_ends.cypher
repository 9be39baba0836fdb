// Return the answers and runs at the given datasets whose facts alone have the name that they used,
// because no edge of a job has it: answers, runs that dropped a dataset, and the producers of
// versions whose own events are not known. Those have no start.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: run by the worker
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(n:Answer) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(n:Answer) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})<-[:DROPPED]-(n:PipelineRun) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact)<-[:PRODUCED]-(n:PipelineRun)
  WHERE n.startedAt IS NULL
  RETURN n
}
RETURN DISTINCT n.urn AS urn
