// Return a page of all nodes of the lineage graph, datasets, aliases and jobs, in the order of
// their urns.
// access: read
// params: $after STRING, $limit INTEGER = 1000
// returns: urn
// example: headwater cypher read/cache/urns --param after=dataset
CALL () {
  MATCH (n:Dataset) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION ALL
  MATCH (n:Symlink) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION ALL
  MATCH (n:Job) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
}
RETURN urn ORDER BY urn LIMIT $limit
