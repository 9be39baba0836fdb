// The datasets and jobs of one owner, or of nobody where the name is empty, by their urns, a page at a time.
// This is a scan over all datasets and jobs: owners are lists, which no index looks into.
// access: read
// params: $owner STRING, $sees LIST<STRING> = null, $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn
// example: headwater owners ANN
CALL () {
  MATCH (n:Dataset)
  WHERE n.droppedAt IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Job)
  RETURN n
}
WITH n
WHERE n.urn > $cursorUrn AND ($sees IS NULL OR any(p IN $sees WHERE n.namespace =~ p))
  AND CASE WHEN $owner = '' THEN size(coalesce(n.owners, [])) = 0 ELSE $owner IN coalesce(n.owners, []) END
RETURN n.urn AS urn
ORDER BY urn
LIMIT $limit
