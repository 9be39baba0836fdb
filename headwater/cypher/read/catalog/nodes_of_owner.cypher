// Return a page of the datasets and jobs of one owner, in the order of their urns. An empty owner
// selects nodes without owners. This is a scan over all datasets and jobs, because no index covers
// the elements of the owner lists.
// access: read
// params: $owner STRING, $visible LIST<STRING> = null, $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn
// example: headwater owners ANN
CALL () {
  MATCH (n:Dataset)
  WHERE n.droppedAt IS NULL AND n.deletedAt IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Job)
  WHERE n.deletedAt IS NULL
  RETURN n
}
WITH n
WHERE n.urn > $cursorUrn AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  AND CASE WHEN $owner = '' THEN size(coalesce(n.owners, [])) = 0
    ELSE $owner IN coalesce(n.owners, []) END
RETURN n.urn AS urn
ORDER BY urn
LIMIT $limit
