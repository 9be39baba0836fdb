// Return the models that use a column, with the shortest path of column lineage to the model or to
// a dataset that it was trained on. evidence: feature, if the column lineage leads to a column of
// the model; training data, if it leads to a dataset that the model was trained on. Paths have at
// most 20 steps. Names are compared without regard to case. This is a scan over all columns.
// access: read
// params: $column STRING, $dataset STRING = "", $namespace STRING = "", $limit INTEGER = 1000
// returns: namespace, model, evidence, dataset, column, steps, path
// example: headwater cypher models_using_column --param column=email
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (d:Dataset)-[:HAS_COLUMN]->(c:Column)
WHERE toLower(c.name) = toLower($column) AND ($dataset = '' OR d.name = $dataset)
  AND ($namespace = '' OR d.namespace = $namespace)
MATCH way = ANY SHORTEST (c)(()-[:FEEDS]->(:Column)){0,20}(at:Column)
MATCH (at)<-[:HAS_COLUMN]-(o:Dataset)
CALL (o) {
  WITH o WHERE o:Model
  RETURN o AS m, 'feature' AS evidence
  UNION
  MATCH (m:Model)-[:TRAINED_ON]->(o)
  RETURN m, 'training data' AS evidence
}
WITH d, c, m, evidence, way ORDER BY evidence, length(way), at.urn
WITH d, c, m, collect({evidence: evidence, way: [n IN nodes(way) | n.urn]})[0] AS one
RETURN m.namespace AS namespace, m.name AS model, one.evidence AS evidence, d.name AS dataset,
  c.name AS column, size(one.way) - 1 AS steps, one.way AS path
ORDER BY namespace, model, dataset, column
LIMIT $limit
