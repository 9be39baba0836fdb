// Count the datasets and jobs of one owner. An empty owner counts nodes without owners. This is a
// scan over all datasets and jobs, because no index covers the elements of the owner lists.
// access: read
// params: $owner STRING, $visible LIST<STRING> = null
// returns: count
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
WHERE ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  AND CASE WHEN $owner = '' THEN size(coalesce(n.owners, [])) = 0
    ELSE $owner IN coalesce(n.owners, []) END
RETURN count(*) AS count
