// Return the datasets that were not dropped, in one namespace or (empty) in all, with any of the
// given tags or (null) regardless of tags. This is a scan over all datasets, to count or sample
// them.
// access: read
// params: $namespace STRING = "", $tags LIST<STRING> = null, $visible LIST<STRING> = null, $limit
//   INTEGER = 200000
// returns: urn
// example: headwater cypher read/estate/current_datasets
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL AND ($namespace = '' OR d.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND ($tags IS NULL OR any(tag IN coalesce(d.tags, []) WHERE toLower(tag) IN $tags))
RETURN d.urn AS urn
ORDER BY urn
LIMIT $limit
