// Return the seconds of the runs of a time window by the datasets that they wrote. The seconds of a
// run are split evenly among its outputs; only the newest $runsMax runs count. Hidden runs and
// outputs do not count.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null,
//   $runsMax INTEGER = 100000, $limit INTEGER = 200000
// returns: dataset, seconds
// example: headwater figures cost-against-fidelity
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.finishedAt > r.startedAt
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
WITH r ORDER BY r.startedAt DESC LIMIT $runsMax
MATCH (r)-[:PRODUCED]->(v:Artifact)
WHERE $visible IS NULL OR any(p IN $visible WHERE v.namespace =~ p)
WITH r, collect(DISTINCT v.dataset) AS outputs
UNWIND outputs AS dataset
RETURN dataset, sum((r.finishedAt.epochMillis - r.startedAt.epochMillis) / 1000.0
  / size(outputs)) AS seconds
ORDER BY seconds DESC, dataset
LIMIT $limit
