// Return the same as read/estate/consumers for the runs that daily summaries have replaced, for
// days in the time window. Summaries hold no rows and bytes of a single dataset.
// access: read
// params: $urn STRING, $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit
//   INTEGER
//   = 5000
// returns: job, owners, runs, lastRead, rows, bytes, seconds
// example: headwater cypher read/estate/consumers_rolled_up --param urn=URN --param
//   since=2026-01-01 --param until=2026-02-01
MATCH (:Dataset {urn: $urn})-[:FEEDS]->(j:Job)
WHERE $visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p)
WITH DISTINCT j
MATCH (j)<-[:SUMMARY_OF]-(s:RunSummary)
WHERE $urn IN s.reads AND s.first >= $since AND s.last < $until
WITH j, s, COUNT {
  UNWIND s.reads AS read
  MATCH (d:Dataset {urn: read})
  WHERE $visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p)
} AS inputs
RETURN j.urn AS job, j.owners AS owners, sum(s.runs) AS runs, max(s.last) AS lastRead, null AS rows,
  null AS bytes,
  sum(CASE WHEN inputs > 0 THEN s.seconds / inputs ELSE 0.0 END) AS seconds
ORDER BY seconds DESC, job
LIMIT $limit
