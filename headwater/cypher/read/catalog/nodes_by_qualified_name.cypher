// Return the datasets and jobs with one of these namespaces and names.
// access: read
// params: $pairs LIST<MAP>, $limit INTEGER = 1000
// returns: urn
// example: run by `headwater lineage file:/data/planes`
UNWIND $pairs AS pair
CALL (pair) {
  MATCH (n:Dataset {namespace: pair.namespace, name: pair.name}) RETURN n.urn AS urn
  UNION ALL
  MATCH (n:Job {namespace: pair.namespace, name: pair.name}) RETURN n.urn AS urn
}
RETURN DISTINCT urn ORDER BY urn LIMIT $limit
