// Count the datasets that the lists of datasets hold on all pages. This is a scan over the datasets
// of the namespaces.
// access: read
// params: $firstNamespace STRING = "", $lastNamespace STRING, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $tag STRING = "", $visible LIST<STRING> = null
// returns: count
// example: headwater datasets
MATCH (n:Dataset)
USING INDEX SEEK n:Dataset(namespace, name)
WHERE n.namespace >= $firstNamespace AND n.namespace <= $lastNamespace AND n.name IS NOT NULL
  AND n.deletedAt IS NULL
  AND coalesce(n.lastSeen, datetime({epochSeconds: 0})) >= $since
  AND coalesce(n.lastSeen, datetime({epochSeconds: 0})) < $until
  AND ($owner = '' OR $owner IN n.owners)
  AND ($tag = '' OR any(t IN n.tags
    WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '='))
  AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
RETURN count(*) AS count
