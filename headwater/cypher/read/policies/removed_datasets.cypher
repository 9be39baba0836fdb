// Return the datasets that were dropped or deleted from $since on and before $until, the newest
// first. $visible: regular expressions of namespaces; null: any. This is a scan over all datasets.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn, removed
// example: headwater policy history policies
MATCH (d:Dataset)
WHERE (d.droppedAt IS NOT NULL OR d.deletedAt IS NOT NULL)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d.urn AS urn, coalesce(d.droppedAt, d.deletedAt) AS removed
WHERE removed >= $since AND removed < $until
RETURN urn, removed
ORDER BY removed DESC, urn
LIMIT $limit
