// Count the dataset aliases. This is a scan over them. $visible: the namespaces of both names, as
// regular expressions; null: any.
// access: read
// params: $visible LIST<STRING> = null
// returns: count
// example: run by `headwater aliases list`
MATCH (s:Symlink)-[:SYMLINK_OF]->(d:Dataset)
WHERE $visible IS NULL OR (any(p IN $visible WHERE s.namespace =~ p)
  AND any(p IN $visible WHERE d.namespace =~ p))
RETURN count(*) AS count
