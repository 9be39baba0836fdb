// Other names of datasets after a urn, in the order of their urns, each with the dataset that goes by it and all that
// was said under any name of that.
// access: read
// params: $after STRING, $limit INTEGER
// returns: urn, canonical, members
// example: run by `headwater symlinks list`
MATCH (s:Symlink)
WHERE s.urn > $after
WITH s ORDER BY s.urn LIMIT $limit
MATCH (s)-[:SYMLINK_OF]->(d:Dataset)
RETURN s.urn AS urn, d.urn AS canonical,
  [{urn: d.urn, facts: d.facts}] + [(other:Symlink)-[:SYMLINK_OF]->(d) | {urn: other.urn, facts: other.facts}] AS members
ORDER BY urn
