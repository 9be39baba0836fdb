// Return, for each visible dataset, how exactly its lineage is known: 0 without a known producer, 1
// if all inputs of its job count as its origin, 2 if an event named its origin, 3 with column
// lineage. This is a scan over all datasets.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 200000
// returns: urn, fidelity
// example: headwater figures cost-against-fidelity
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
RETURN d.urn AS urn, CASE
  WHEN EXISTS { (d)-[:HAS_COLUMN]->(:Column)<-[:FEEDS]-(:Column) } THEN 3
  WHEN EXISTS { (d)-[:DERIVED_FROM]->(:Dataset) }
    OR EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current }
    OR EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current AND p.explicit } THEN 2
  WHEN EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current } THEN 1
  ELSE 0 END AS fidelity
ORDER BY urn
LIMIT $limit
