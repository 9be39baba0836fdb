// Return the owners of datasets and jobs with the number that each owns, largest owners first. The
// row with owner null counts nodes without owners and comes first. This is a scan over all datasets
// and jobs, to count them.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 10000
// returns: owner, datasets, jobs
// example: headwater owners
CALL () {
  MATCH (d:Dataset)
  WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
    AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  UNWIND CASE WHEN size(coalesce(d.owners, [])) = 0 THEN [null] ELSE d.owners END AS owner
  RETURN owner, count(DISTINCT d) AS datasets, 0 AS jobs
  UNION ALL
  MATCH (j:Job)
  WHERE j.deletedAt IS NULL AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  UNWIND CASE WHEN size(coalesce(j.owners, [])) = 0 THEN [null] ELSE j.owners END AS owner
  RETURN owner, 0 AS datasets, count(DISTINCT j) AS jobs
}
WITH owner, sum(datasets) AS datasets, sum(jobs) AS jobs
RETURN owner, datasets, jobs
ORDER BY owner IS NULL DESC, datasets + jobs DESC, owner
LIMIT $limit
