// Return the datasets and jobs beside the given ones in the lineage graph, past edges included.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: urn
// example: headwater cypher read/findings/neighbours --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:Dataset {urn: urn})-[:FEEDS]->(o:Job|Dataset) RETURN o
  UNION ALL
  MATCH (:Dataset {urn: urn})<-[:FEEDS|PRODUCED]-(o:Job|Dataset) RETURN o
  UNION ALL
  MATCH (:Dataset {urn: urn})-[:DERIVED_FROM]-(o:Dataset) RETURN o
  UNION ALL
  MATCH (:Job {urn: urn})-[:FEEDS|PRODUCED|PART_OF]-(o:Job|Dataset) RETURN o
}
RETURN DISTINCT o.urn AS urn
LIMIT $limit
