// Return a page of datasets in the order of their namespaces and names, from the index of both.
// They were last seen at $since or later and before $until. The page starts after the row of
// $cursorNamespace, $cursorName and $cursorUrn.
// access: read
// params: $firstNamespace STRING = "", $lastNamespace STRING, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $tag STRING = "", $visible LIST<STRING> = null, $cursorNamespace STRING =
//   "", $cursorName STRING = "", $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, namespace, name, properties
// example: headwater datasets
MATCH (n:Dataset)
USING INDEX SEEK n:Dataset(namespace, name)
WHERE n.namespace >= $firstNamespace AND n.namespace <= $lastNamespace AND n.name IS NOT NULL
  AND n.deletedAt IS NULL
  AND (n.namespace > $cursorNamespace OR (n.namespace = $cursorNamespace
    AND (n.name > $cursorName OR (n.name = $cursorName AND n.urn > $cursorUrn))))
  AND coalesce(n.lastSeen, datetime({epochSeconds: 0})) >= $since
  AND coalesce(n.lastSeen, datetime({epochSeconds: 0})) < $until
  AND ($owner = '' OR $owner IN n.owners)
  AND ($tag = '' OR any(t IN n.tags
    WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '='))
  AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
RETURN n.urn AS urn, n.namespace AS namespace, n.name AS name,
  n {.*, facts: null} AS properties
ORDER BY namespace, name, urn
LIMIT $limit
