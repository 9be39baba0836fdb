// Count the columns that read/lists/columns lists on all pages. This is a scan over the datasets of
// the namespaces.
// access: read
// params: $firstNamespace STRING = "", $lastNamespace STRING, $tag STRING, $visible LIST<STRING> =
//   null
// returns: count
// example: headwater columns --tag pii
MATCH (n:Dataset)
USING INDEX SEEK n:Dataset(namespace, name)
WHERE n.namespace >= $firstNamespace AND n.namespace <= $lastNamespace AND n.name IS NOT NULL
  AND n.tags IS NOT NULL AND n.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
MATCH (n)-[:HAS_COLUMN]->(c:Column)
WHERE any(t IN c.tags WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '=')
RETURN count(*) AS count
