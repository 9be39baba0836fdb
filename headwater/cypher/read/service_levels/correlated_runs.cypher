// Count the visible runs that started in a time window, ended and contain no others, and those
// whose identifiers match: the parent run that they name sent events itself, and their job shares
// a dataset with another job or an answer.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null
// returns: total, good
// example: headwater slo M8
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.endUnreported IS NULL
  AND r.status IN ['COMPLETE', 'FAIL', 'ABORT'] AND NOT EXISTS { (:PipelineRun)-[:PART_OF]->(r) }
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
OPTIONAL MATCH (r)-[:RUN_OF]->(j:Job)
WITH j, count(*) AS runs, count(CASE WHEN NOT EXISTS { MATCH (r)-[:PART_OF]->(p:PipelineRun)
  WHERE p.startedAt IS NULL AND p.finishedAt IS NULL } THEN 1 END) AS known
WITH runs, known, EXISTS { MATCH (j)-[:FEEDS|PRODUCED]-(:Dataset)-[:FEEDS|PRODUCED]-(other:Job)
    WHERE other <> j }
  OR EXISTS { (j)-[:FEEDS|PRODUCED]-(:Dataset)<-[:VERSION_OF]-(:Artifact|Source)
    -[:CITED_BY]->(:Answer) } AS shared
RETURN coalesce(sum(runs), 0) AS total,
  coalesce(sum(CASE WHEN shared THEN known ELSE 0 END), 0) AS good
