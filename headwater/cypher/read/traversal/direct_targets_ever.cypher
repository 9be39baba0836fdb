// Make one hop downstream in the lineage graph, past edges included, from dataset to dataset and
// from job to job, where no node between them is known.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/direct_targets_ever --param urns=job:airflow:load
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:Dataset {urn: urn})-[:FEEDS]->(o:Dataset) RETURN o
  UNION ALL
  MATCH (:Job {urn: urn})-[:FEEDS]->(o:Job) RETURN o
}
RETURN DISTINCT urn AS source, o.urn AS target
LIMIT $limit
