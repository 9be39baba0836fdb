// Return a page of dataset aliases after a urn, in the order of their urns. Each comes with its
// canonical dataset and the facts under every name of that dataset. $visible: the namespaces of
// both
// names, as regular expressions.
// access: read
// params: $after STRING, $limit INTEGER, $visible LIST<STRING>
// returns: urn, canonical, members
// example: run by `headwater aliases list`
MATCH (s:Symlink)
WHERE s.urn > $after AND ($visible IS NULL OR any(p IN $visible WHERE s.namespace =~ p))
MATCH (s)-[:SYMLINK_OF]->(d:Dataset)
WHERE $visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p)
WITH s, d ORDER BY s.urn LIMIT $limit
RETURN s.urn AS urn, d.urn AS canonical,
  [{urn: d.urn, facts: d.facts}] + [(other:Symlink)-[:SYMLINK_OF]->(d) | {urn: other.urn,
    facts: other.facts}] AS members
ORDER BY urn
