// Return the columns with a tag, and where their values flow: every column that comes from them,
// nearest first, with the job and the transformation of the last step. The row with 0 steps is the
// tagged column itself. A tag is given as key=value, or as a key with any value. A tag of the
// dataset counts for all its columns with ofDatasets. Paths have at most 20 steps. This is a scan
// over all datasets for their tags.
// access: read
// params: $tag STRING = "pii", $namespace STRING = "", $ofDatasets BOOLEAN = false, $limit INTEGER
//   = 1000
// returns: namespace, dataset, column, tags, steps, reachedNamespace, reachedDataset,
//   reachedColumn, job, transformations
// example: headwater cypher tagged_columns --param tag=pii
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL AND ($namespace = '' OR d.namespace = $namespace)
MATCH (d)-[:HAS_COLUMN]->(c:Column)
WHERE any(t IN coalesce(c.tags, []) + CASE WHEN $ofDatasets THEN d.tags ELSE [] END
  WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '=')
MATCH path = ANY SHORTEST (c)(()-[feeds:FEEDS]->(:Column)){0,20}(reached)
RETURN d.namespace AS namespace, d.name AS dataset, c.name AS column, c.tags AS tags,
  size(feeds) AS steps, reached.namespace AS reachedNamespace, reached.dataset AS reachedDataset,
  reached.name AS reachedColumn, feeds[-1].job AS job,
  feeds[-1].transformations AS transformations
ORDER BY namespace, dataset, column, steps, reachedNamespace, reachedDataset, reachedColumn
LIMIT $limit
