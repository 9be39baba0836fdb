// Return the columns or whole datasets that derive from the given columns, with the job and the
// transformations.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, job, transformations, target, dataset, column
// example: headwater cypher read/impact/column_edges --param urns=column:file:/raw/planes:tailnum
UNWIND $urns AS urn
MATCH (:Column {urn: urn})-[e:FEEDS]->(t:Column|Dataset)
OPTIONAL MATCH (t)<-[:HAS_COLUMN]-(d:Dataset)
RETURN urn AS source, e.job AS job, e.transformations AS transformations, t.urn AS target,
  coalesce(d.urn, t.urn) AS dataset,
  CASE WHEN d IS NULL THEN null ELSE t.name END AS column
ORDER BY source, job, target
LIMIT $limit
