// Return the datasets with one of the given tags and without an owner. This is a scan over all
// datasets for their tags.
// access: read
// params: $tags LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 5000
// returns: urn
// example: headwater figures open-actions
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND any(tag IN coalesce(d.tags, []) WHERE toLower(tag) IN $tags)
  AND size(coalesce(d.owners, [])) = 0
RETURN d.urn AS urn
ORDER BY urn
LIMIT $limit
