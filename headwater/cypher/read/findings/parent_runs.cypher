// Return the parent runs that the newest runs since an instant name, by namespace and day of the
// run in UTC: their number, how many of them sent events of their own, and some of the others.
// `oldest` is the start of the oldest of the runs that were read, `runs` their number.
// access: read
// params: $since DATETIME, $limit INTEGER = 10000, $examples INTEGER = 5
// returns: runs, oldest, days
// example: headwater cypher read/findings/parent_runs --param since=2026-01-01T00:00:00Z
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since
WITH r ORDER BY r.startedAt DESC LIMIT $limit
WITH collect(r) AS newest
RETURN size(newest) AS runs, newest[-1].startedAt AS oldest, COLLECT {
  UNWIND newest AS r
  MATCH (r)-[:PART_OF]->(p:PipelineRun)
  WITH DISTINCT r.namespace AS namespace,
    date(datetime({datetime: r.startedAt, timezone: 'Z'})) AS day, p
  ORDER BY namespace, day, p.urn
  WITH namespace, day, count(p) AS total, count(p.startedAt) AS known,
    collect(CASE WHEN p.startedAt IS NULL THEN p.urn END)[..$examples] AS unknown
  RETURN {namespace: namespace, day: day, total: total, known: known, unknown: unknown}
    ORDER BY namespace, day
} AS days
