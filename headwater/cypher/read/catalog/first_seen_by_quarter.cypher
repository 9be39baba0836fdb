// Count the datasets, jobs or sources ($kind) first seen in each quarter of an hour since an
// instant. Quarters are numbered from 1970; earlier nodes have the quarter null. This is a scan
// over all nodes of the kind.
// access: read
// params: $kind STRING, $since DATETIME, $visible LIST<STRING>
// returns: quarter, count
// example: headwater cypher read/catalog/first_seen_by_quarter --param kind=jobs --param
//   since=2026-01-01T00:00:00Z --param visible=null
WITH $kind AS kind
CALL (kind) {
  WITH kind WHERE kind = 'datasets'
  MATCH (n:Dataset)
  WHERE n.deletedAt IS NULL AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN n.urn AS one, n.firstSeen AS first
  UNION ALL
  WITH kind WHERE kind = 'jobs'
  MATCH (n:Job)
  WHERE n.deletedAt IS NULL AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN n.urn AS one, n.firstSeen AS first
  UNION ALL
  WITH kind WHERE kind = 'sources'
  MATCH (n:Dataset)
  WHERE n.deletedAt IS NULL AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN coalesce(n.sourceName, n.namespace) AS one, min(n.firstSeen) AS first
}
WITH one, first
WHERE first IS NOT NULL
RETURN CASE WHEN first < $since THEN null ELSE first.epochSeconds / 900 END AS quarter,
  count(*) AS count
