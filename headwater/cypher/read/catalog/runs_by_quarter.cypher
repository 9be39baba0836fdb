// Count the runs that began, and that ended with each status, in each quarter of an hour since an
// instant. Quarters are numbered from 1970. Runs that began more than a week before the instant are
// not counted.
// access: read
// params: $since DATETIME, $visible LIST<STRING>
// returns: quarter, status, count
// example: headwater cypher read/catalog/runs_by_quarter --param since=2026-01-01T00:00:00Z --param
//   visible=null
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since - duration({days: 7})
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
  AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
    WHERE none(p IN $visible WHERE other.namespace =~ p) })
UNWIND [{status: 'START', at: r.startedAt},
  {status: r.status, at: coalesce(r.failedAt, r.finishedAt)}] AS change
WITH change
WHERE change.at >= $since
RETURN change.at.epochSeconds / 900 AS quarter, change.status AS status, count(*) AS count
