// Count the jobs that read a dataset, and the critical ones: a job with one of the given tags, or
// with an output that has one. This is a scan over all jobs, to count them.
// access: read
// params: $tags LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: consumers, critical, urns
// example: headwater figures critical-consumers
MATCH (j:Job)
WHERE j.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  AND EXISTS { MATCH (:Dataset)-[f:FEEDS]->(j) WHERE f.current }
WITH j, any(tag IN coalesce(j.tags, []) WHERE toLower(tag) IN $tags) OR EXISTS {
    MATCH (j)-[p:PRODUCED]->(d:Dataset)
    WHERE p.current AND d.droppedAt IS NULL
      AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
      AND any(tag IN coalesce(d.tags, []) WHERE toLower(tag) IN $tags)
  } AS critical
ORDER BY j.urn
RETURN count(j) AS consumers, count(CASE WHEN critical THEN 1 END) AS critical,
  collect(CASE WHEN critical THEN j.urn END)[..$limit] AS urns
