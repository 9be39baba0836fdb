// The runs and answers that have to do with any version of these datasets, with their columns, or with dropping them:
// what to make afresh when these names are joined to others or parted from them.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: run by the worker
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact)<-[:PRODUCED]-(n:PipelineRun) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(:Artifact|Source)-[:FEEDS|CITED_BY]->(n:PipelineRun|Answer) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(n:Answer) RETURN n
  UNION
  MATCH (:Dataset {urn: urn})<-[:DROPPED]-(n:PipelineRun) RETURN n
}
RETURN DISTINCT n.urn AS urn
