// Return a page of the columns with a tag, against the order of the namespaces and names of their
// datasets. The page starts after the row of $cursorNamespace, $cursorName and $cursorUrn. This is
// a scan over the datasets of the namespaces.
// access: read
// params: $firstNamespace STRING = "", $lastNamespace STRING, $tag STRING, $visible LIST<STRING> =
//   null, $cursorNamespace STRING = "", $cursorName STRING = "", $cursorUrn STRING = "", $limit
//   INTEGER = 20
// returns: urn, namespace, name, properties
// example: headwater columns --tag pii
MATCH (n:Dataset)
USING INDEX SEEK n:Dataset(namespace, name)
WHERE n.namespace >= $firstNamespace AND n.namespace <= $lastNamespace AND n.name IS NOT NULL
  AND n.tags IS NOT NULL AND n.deletedAt IS NULL
  AND (n.namespace < $cursorNamespace OR (n.namespace = $cursorNamespace
    AND n.name <= $cursorName))
  AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
MATCH (n)-[:HAS_COLUMN]->(c:Column)
WHERE any(t IN c.tags WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '=')
  AND (n.namespace <> $cursorNamespace OR n.name <> $cursorName OR c.urn < $cursorUrn)
RETURN c.urn AS urn, n.namespace AS namespace, n.name AS name, properties(c) AS properties
ORDER BY namespace DESC, name DESC, urn DESC
LIMIT $limit
