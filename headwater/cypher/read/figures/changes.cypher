// Count the complete versions of each visible dataset that were created in a time window.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 200000
// returns: dataset, changes
// example: headwater figures median-blast-radius
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until
MATCH (r)-[:PRODUCED]->(v:Artifact)
WHERE v.complete = true
  AND ($visible IS NULL OR any(p IN $visible WHERE v.namespace =~ p))
RETURN v.dataset AS dataset, count(v) AS changes
ORDER BY dataset
LIMIT $limit
