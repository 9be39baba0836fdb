// Return a page of all nodes that may have findings, and of all that have some, in the order of
// their urns.
// access: read
// params: $after STRING = "", $limit INTEGER = 200
// returns: urn
// example: run by `headwater detect`
CALL () {
  MATCH (n:Dataset) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION
  MATCH (n:Job) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION
  MATCH (n:Answer) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION
  MATCH (n:Producer) WHERE n.urn > $after RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION
  MATCH (f:Finding) WHERE f.subject > $after
  RETURN DISTINCT f.subject AS urn ORDER BY f.subject LIMIT $limit
}
RETURN urn ORDER BY urn LIMIT $limit
