// Return a page of datasets, newest observation first. They were last seen at $since or later and
// before $until. The page starts after the row of $cursorTime and $cursorUrn. This is a scan over
// all datasets, because every event would change an index of that time.
// access: read
// params: $namespace STRING = "", $since DATETIME, $until DATETIME, $owner STRING = "", $tag
//   STRING = "", $visible LIST<STRING> = null, $cursorTime DATETIME, $cursorUrn STRING = "", $limit
//   INTEGER = 20
// returns: urn, at, properties
// example: headwater datasets
MATCH (n:Dataset)
WITH n, coalesce(n.lastSeen, datetime({epochSeconds: 0})) AS at
WHERE n.deletedAt IS NULL AND at >= $since AND at < $until
  AND ($namespace = '' OR n.namespace = $namespace)
  AND (at < $cursorTime OR (at = $cursorTime AND n.urn > $cursorUrn))
  AND ($owner = '' OR $owner IN n.owners)
  AND ($tag = '' OR any(t IN n.tags
    WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '='))
  AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
RETURN n.urn AS urn, at, n {.*, facts: null} AS properties
ORDER BY at DESC, urn
LIMIT $limit
