// Return the models that use deprecated data or features: deprecated datasets that a model was
// trained on, and deprecated columns from which column lineage leads to a feature of the model or
// to its training data. A dataset is deprecated by a person, or by a tag deprecated; a column by
// such a tag. Paths have at most 20 steps. This is a scan over all datasets for their tags.
// access: read
// params: $namespace STRING = "", $limit INTEGER = 1000
// returns: namespace, model, owners, kind, deprecated, reason, steps
// example: headwater cypher models_on_deprecated_data --param limit=20
CYPHER statefulShortestPlanningMode=all_if_possible
CALL () {
  MATCH (m:Model)-[:TRAINED_ON]->(d:Dataset)
  WHERE d.deprecatedAt IS NOT NULL
    OR any(t IN d.tags WHERE toLower(split(t, '=')[0]) = 'deprecated'
      AND NOT toLower(coalesce(split(t, '=')[1], '')) IN ['false', 'no', 'none', '0'])
  RETURN m, 'dataset' AS kind, d.urn AS deprecated, d.deprecation AS reason, 1 AS steps
  UNION
  MATCH (d:Dataset)
  WHERE d.tags IS NOT NULL
  MATCH (d)-[:HAS_COLUMN]->(c:Column)
  WHERE any(t IN c.tags WHERE toLower(split(t, '=')[0]) = 'deprecated'
    AND NOT toLower(coalesce(split(t, '=')[1], '')) IN ['false', 'no', 'none', '0'])
  MATCH way = ANY SHORTEST (c)(()-[:FEEDS]->(:Column)){0,20}(at:Column)
  MATCH (at)<-[:HAS_COLUMN]-(o:Dataset)
  CALL (o) {
    WITH o WHERE o:Model
    RETURN o AS m
    UNION
    MATCH (m:Model)-[:TRAINED_ON]->(o)
    RETURN m
  }
  RETURN m, 'column' AS kind, c.urn AS deprecated, null AS reason, min(length(way)) AS steps
}
WITH m, kind, deprecated, reason, steps
WHERE $namespace = '' OR m.namespace = $namespace
RETURN m.namespace AS namespace, m.name AS model, coalesce(m.owners, []) AS owners, kind,
  deprecated, reason, steps
ORDER BY namespace, model, kind, deprecated
LIMIT $limit
